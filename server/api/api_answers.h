// What each resource of /api/v1 answers, in the short form of answer_schema.h; api_routes.c gives each to its
// route. tests/openapi holds every answer against it, so that a member that is written and not said here is seen.
//
// What is null in some answers is said to be so (`s?`), whether or not any profile of the tests shows it.
#pragma once

extern const char ANSWER_ADVISE[];
extern const char ANSWER_BUFFER[];
extern const char ANSWER_BUFFER_HLO[];
extern const char ANSWER_BUFFERS[];
extern const char ANSWER_CHECK[];
extern const char ANSWER_CHECK_PROGRESS[];
extern const char ANSWER_DEVICE_MEMORY[];
extern const char ANSWER_DEVICE_MEMORY_PROFILE[];
extern const char ANSWER_DEVICES[];
extern const char ANSWER_DIFF[];
extern const char ANSWER_EXPLAIN[];
extern const char ANSWER_MEMORY_PROFILE[];
extern const char ANSWER_MEMORY_PROFILE_ACROSS[];
extern const char ANSWER_MEMORY_PROFILE_BREAKDOWN[];
extern const char ANSWER_MEMORY_PROFILE_EVENTS[];
extern const char ANSWER_MEMORY_PROFILE_FINDINGS[];
extern const char ANSWER_MEMORY_PROFILE_HELD[];
extern const char ANSWER_MEMORY_PROFILE_MODULES[];
extern const char ANSWER_MEMORY_PROFILE_OPS[];
extern const char ANSWER_MEMORY_PROFILE_PRESSURE[];
extern const char ANSWER_MEMORY_PROFILE_STEPS[];
extern const char ANSWER_MEMORY_PROFILE_TIMELINE[];
extern const char ANSWER_MEMORY_VIEW[];
extern const char ANSWER_MEMORY_VIEW_GROUPS[];
extern const char ANSWER_MEMORY_VIEW_GROUPS_ROWS[];
extern const char ANSWER_MEMORY_VIEW_OVERVIEW[];
extern const char ANSWER_MODULES[];
extern const char ANSWER_SERVER[];
extern const char ANSWER_SESSION[];
extern const char ANSWER_SESSIONS[];
extern const char ANSWER_TREND[];
extern const char ANSWER_WORK[];

// What is sent to one.
extern const char CHECK_PROGRESS[];
