// When each array is read first, by what computes with it.
//
//     %masks -> %get-tuple-element, index=3 -> %fusion(scores, get-tuple-element)      at the time of the fusion
//
// Masks of all layers that are drawn at once, and copies of one bias that layers' scores are added to, are read one
// after the other.
#pragma once

#include "analysis/advice/advisor.h"

// Of each leaf, a time of advisor->schedule; SCHEDULE_NEVER where no sequence tells. On the advisor's arena; NULL at
// its limit.
uint32_t *first_reading_find(const struct advisor *advisor);
