// What the other threads of a test are at, for tests that wait until nothing more will happen by itself.
#pragma once

// Until no thread but this one has anything to do.
void other_threads_wait_all(void);
