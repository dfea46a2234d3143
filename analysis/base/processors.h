// The processors that this process may run on: those of the machine, less what taskset or a container's cpuset keeps
// back. A container's share of time (a quota of its cgroup) is not looked at.
#pragma once

// At least 1, at most `most`.
unsigned processors_usable(unsigned most);
