// Files of this machine, and of whatever is mounted on it: the only place of the core that asks the system for them.
//
// Regular files only: opening a FIFO, a device or a folder is an error, and none blocks. With a root (storage.h) what
// is open is asked where it lies, so that no link that is put there meanwhile leads out of it.
#pragma once

#include "analysis/input/storage.h"

// Needs no giving back.
const struct storage *local_storage(void);

// The same, where links that lead out of a root count as if they led to what lies in it.
const struct storage *local_storage_following(void);
