// The cage, from inside: a child enters it, tries what it may and what it may not, and reports by its exit status.
#define _GNU_SOURCE
#include "tests/unit/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "server/options.h"
#include "server/sandbox/file_rules.h"
#include "server/sandbox/sandbox.h"
#include "server/serving_sandbox.h"
#include "server/store/resident_memory.h"
#include "tests/unit/temp_folder.h"

// The folders of a test; a child sees them as they were when it was started.
struct room {
    struct temp_folder folder;
    struct temp_path inside, outside, kept;
};

enum { CAGE_MISSING = 77 };

static bool is_refused(long result) {
    return result == -1 && (errno == EPERM || errno == EACCES);
}

// By the filter of calls, whatever the rules for files (EACCES) say of it.
static bool is_filtered(long result) {
    return result == -1 && errno == EPERM;
}

static bool is_absent(long result) {
    return result == -1 && errno == ENOSYS;
}

static struct sandbox enter(const struct file_place *places, size_t count, bool connects) {
    const struct sandbox_needs needs = {places, count, connects};
    return sandbox_enter(&needs);
}

static struct sandbox enter_to_read(const struct room *room) {
    const struct file_place place = {room->inside.text, FILE_RIGHT_READ};
    return enter(&place, 1, false);
}

// Whether what `tries` does in a child of its own, in the cage, is all as it should be; the line where it is not.
static void in_a_child(const struct room *room, int (*tries)(const struct room *room)) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(tries(room));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CAGE_MISSING) skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

// The number of the first check that fails, from 1; 0 when all hold.
#define FIRST_WRONG(...) first_wrong((const bool[]){__VA_ARGS__}, sizeof((const bool[]){__VA_ARGS__}) / sizeof(bool))

static int first_wrong(const bool *checks, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!checks[i]) return (int)i + 1;
    }
    return 0;
}

static void make_room(struct room *room) {
    temp_folder_make(&room->folder);
    temp_folder_write(&room->folder, "inside/profile", BYTES("profile"));
    temp_folder_write(&room->folder, "outside/secret", BYTES("secret"));
    temp_folder_mkdir(&room->folder, "kept");
    temp_folder_link(&room->folder, "inside/way_out", "../outside/secret");
    room->inside = temp_folder_path(&room->folder, "inside");
    room->outside = temp_folder_path(&room->folder, "outside");
    room->kept = temp_folder_path(&room->folder, "kept");
}

static int open_below(const struct temp_path *folder, const char *name, int flags) {
    char path[4 * TEMP_FOLDER_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder->text, name);
    return open(path, flags | O_CLOEXEC, 0600);
}

// --- Calls ---

static int tries_to_write(const struct room *room) {
    struct sandbox sandbox = enter_to_read(room);
    if (sandbox.calls_failure) return CAGE_MISSING;
    int memory = memfd_create("memory", MFD_CLOEXEC);
    return FIRST_WRONG(is_filtered(open_below(&room->inside, "profile", O_WRONLY)),
                       is_filtered(open_below(&room->inside, "profile", O_RDWR)),
                       is_filtered(open_below(&room->inside, "profile", O_RDONLY | O_TRUNC)),
                       is_filtered(open_below(&room->inside, "new", O_RDONLY | O_CREAT)),
                       is_filtered(open_below(&room->inside, ".", O_TMPFILE | O_RDWR)), is_filtered(mkdir("new", 0700)),
                       is_filtered(unlink(room->inside.text)), is_filtered(rename(room->inside.text, room->kept.text)),
                       is_filtered(truncate("profile", 0)), is_filtered(symlink("a", "b")),
                       is_filtered(chmod(room->inside.text, 0777)), memory >= 0, write(memory, "a", 1) == 1);
}

static int tries_to_start_programs(const struct room *room) {
    struct sandbox sandbox = enter_to_read(room);
    if (sandbox.calls_failure) return CAGE_MISSING;
    char program[] = "/bin/true", *arguments[] = {program, NULL}, *environment[] = {NULL};
    return FIRST_WRONG(is_refused(execve(program, arguments, environment)),
                       is_refused(syscall(SYS_execveat, AT_FDCWD, program, arguments, environment, 0)),
                       is_refused(fork()), is_refused(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)),
                       is_absent(syscall(SYS_clone3, NULL, 0)), is_refused(kill(getppid(), 0)), kill(getpid(), 0) == 0,
                       is_refused(syscall(SYS_ptrace, 0, 0, 0, 0)),
                       is_refused((long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
                       is_refused(ioctl(STDIN_FILENO, TIOCSTI, "a")), is_refused(prctl(PR_SET_DUMPABLE, 0)),
                       is_absent(syscall(SYS_io_uring_setup, 1, NULL)), is_absent(syscall(SYS_bpf, 0, NULL, 0)));
}

static int tries_to_connect(const struct room *room) {
    struct sandbox sandbox = enter_to_read(room);
    if (sandbox.calls_failure) return CAGE_MISSING;
    struct sockaddr nowhere = {.sa_family = AF_INET};
    return FIRST_WRONG(is_refused(socket(AF_INET, SOCK_STREAM, 0)), is_refused(socket(AF_INET6, SOCK_DGRAM, 0)),
                       is_refused(socket(AF_UNIX, SOCK_STREAM, 0)), is_refused(connect(0, &nowhere, sizeof nowhere)),
                       is_refused(bind(0, &nowhere, sizeof nowhere)));
}

// On a free port of this machine; its address in `address`.
static int listen_somewhere(struct sockaddr_in *address) {
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof *address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool is_good = bind(listener, (struct sockaddr *)address, size) == 0 && listen(listener, 1) == 0 &&
                   getsockname(listener, (struct sockaddr *)address, &size) == 0;
    return is_good ? listener : -1;
}

// The server's own socket, shut down, is one that could be connected; data and connection go in one call.
static int tries_to_connect_what_it_has(const struct room *room) {
    struct sockaddr_in own_address, address;
    int own = listen_somewhere(&own_address), other = listen_somewhere(&address), ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return CAGE_MISSING;
    struct sandbox sandbox = enter_to_read(room);
    if (sandbox.calls_failure) return CAGE_MISSING;
    char secret[] = "secret";
    struct iovec piece = {secret, sizeof secret};
    struct mmsghdr message = {
        .msg_hdr = {.msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &piece, .msg_iovlen = 1}};
    return FIRST_WRONG(own >= 0, other >= 0, shutdown(own, SHUT_RDWR) == 0,
                       is_filtered(sendto(own, secret, 1, MSG_FASTOPEN, (struct sockaddr *)&address, sizeof address)),
                       is_filtered(sendmsg(own, &message.msg_hdr, MSG_FASTOPEN | MSG_NOSIGNAL)),
                       is_filtered(sendmmsg(own, &message, 1, MSG_FASTOPEN)), accept(other, NULL, NULL) == -1,
                       send(ends[0], secret, 1, MSG_NOSIGNAL) == 1, recv(ends[1], secret, 1, 0) == 1);
}

// A descriptor that is ready may signal whoever it belongs to.
static int tries_to_signal_by_a_descriptor(const struct room *room) {
    struct sandbox sandbox = enter_to_read(room);
    if (sandbox.calls_failure) return CAGE_MISSING;
    int ends[2];
    const struct f_owner_ex owner = {F_OWNER_PID, getppid()};
    return FIRST_WRONG(pipe(ends) == 0, is_filtered(fcntl(ends[0], F_SETOWN, getppid())),
                       is_filtered(fcntl(ends[0], F_SETOWN_EX, &owner)), is_filtered(fcntl(ends[0], F_SETSIG, SIGTERM)),
                       is_filtered(fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK)),
                       is_filtered(fcntl(ends[0], F_SETLEASE, F_RDLCK)), fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0,
                       (fcntl(ends[0], F_GETFL) & O_NONBLOCK) != 0, fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0,
                       fcntl(ends[0], F_GETFD) == FD_CLOEXEC, fcntl(ends[0], F_DUPFD_CLOEXEC, 0) > ends[1]);
}

static int tries_to_connect_with_a_bucket(const struct room *room) {
    (void)room;
    struct sandbox sandbox = enter(NULL, 0, true);
    if (sandbox.calls_failure) return CAGE_MISSING;
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    return FIRST_WRONG(connection >= 0, is_refused(socket(AF_UNIX, SOCK_STREAM, 0)),
                       is_refused(socket(AF_PACKET, SOCK_RAW, 0)), is_refused(listen(connection, 1)));
}

static void *nothing(void *context) {
    return context;
}

static int works_on(const struct room *room) {
    struct sandbox sandbox = enter_to_read(room);
    if (sandbox.calls_failure) return CAGE_MISSING;
    pthread_t thread;
    bool has_thread = pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0;
    char text[16];
    int file = open_below(&room->inside, "profile", O_RDONLY), ends[2];
    return FIRST_WRONG(has_thread, file >= 0, read(file, text, sizeof text) == 7, pipe(ends) == 0,
                       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0);  // asking is not on the list
}

static void refuses_to_write(void **state) {
    in_a_child(*state, tries_to_write);
}

static void refuses_to_start_programs(void **state) {
    in_a_child(*state, tries_to_start_programs);
}

static void refuses_to_connect(void **state) {
    in_a_child(*state, tries_to_connect);
}

static void refuses_to_connect_what_is_at_hand(void **state) {
    in_a_child(*state, tries_to_connect_what_it_has);
}

static void refuses_to_signal_by_a_descriptor(void **state) {
    in_a_child(*state, tries_to_signal_by_a_descriptor);
}

static void connects_with_a_bucket_but_to_no_service_of_the_machine(void **state) {
    in_a_child(*state, tries_to_connect_with_a_bucket);
}

static void reads_and_starts_threads(void **state) {
    in_a_child(*state, works_on);
}

// --- Files ---

static int tries_to_read_outside(const struct room *room) {
    struct sandbox sandbox = enter_to_read(room);
    if (!sandbox.files.version) return CAGE_MISSING;
    return FIRST_WRONG(open_below(&room->inside, "profile", O_RDONLY) >= 0,
                       open_below(&room->inside, ".", O_RDONLY | O_DIRECTORY) >= 0,
                       is_refused(open_below(&room->outside, "secret", O_RDONLY)),
                       is_refused(open_below(&room->outside, ".", O_RDONLY | O_DIRECTORY)),
                       is_refused(open_below(&room->inside, "way_out", O_RDONLY)),
                       is_refused(open_below(&room->inside, "../outside/secret", O_RDONLY)),
                       is_refused(open("/etc/passwd", O_RDONLY | O_CLOEXEC)));
}

static bool opens(const char *path) {
    return open(path, O_RDONLY | O_CLOEXEC) >= 0;
}

// In the server's own cage, not in one that is made for this test.
static int tries_to_read_what_it_is(const struct room *room) {
    const struct options options = {.logdir = room->inside.text};
    struct arena arena;
    arena_init(&arena, 0);
    const struct resident_count resident = resident_memory_open();
    if (!serving_sandbox_enter(&options, &arena)) return CAGE_MISSING - 1;
    if (opens("/etc/passwd")) return CAGE_MISSING;
    return FIRST_WRONG(open_below(&room->inside, "profile", O_RDONLY) >= 0, !opens("/proc/self/environ"),
                       !opens("/proc/thread-self/environ"), !opens("/proc/self/maps"), !opens("/proc/self/mem"),
                       !opens("/proc/self/fd"), !opens("/proc/self"), resident_memory_read(&resident).own_bytes > 0);
}

// Where there is no filter of calls.
static int tries_to_reach_others_by_the_rules_for_files(const struct room *room) {
    enum { WITH_SCOPES = 6 };
    (void)room;
    struct sockaddr_in address;
    int other = listen_somewhere(&address), own = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return CAGE_MISSING;
    if (file_rules_impose(NULL, 0, false).version < WITH_SCOPES) return CAGE_MISSING;
    struct sockaddr_in any = {.sin_family = AF_INET};
    return FIRST_WRONG(other >= 0, kill(getppid(), 0) == -1 && errno == EPERM, kill(getpid(), 0) == 0,
                       is_refused(bind(own, (struct sockaddr *)&any, sizeof any)),
                       is_refused(connect(own, (struct sockaddr *)&address, sizeof address)));
}

static int connects_by_the_rules_for_files(const struct room *room) {
    (void)room;
    struct sockaddr_in address;
    int other = listen_somewhere(&address), own = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return CAGE_MISSING;
    if (!file_rules_impose(NULL, 0, true).version) return CAGE_MISSING;
    return FIRST_WRONG(other >= 0, connect(own, (struct sockaddr *)&address, sizeof address) == 0);
}

static int keeps_files_in_one_folder(const struct room *room) {
    const struct file_place places[] = {{room->inside.text, FILE_RIGHT_READ}, {room->kept.text, FILE_RIGHT_KEEP}};
    struct sandbox sandbox = enter(places, 2, false);
    if (!sandbox.files.version || sandbox.calls_failure) return CAGE_MISSING;
    char made[4 * TEMP_FOLDER_PATH_BYTES];
    snprintf(made, sizeof made, "%s/block", room->kept.text);
    return FIRST_WRONG(open_below(&room->kept, "block", O_WRONLY | O_CREAT | O_EXCL) >= 0, unlink(made) == 0,
                       is_refused(open_below(&room->inside, "profile", O_WRONLY)),
                       is_refused(open_below(&room->inside, "new", O_WRONLY | O_CREAT)),
                       is_refused(open_below(&room->outside, "secret", O_WRONLY)));
}

static int removes_from_one_folder(const struct room *room) {
    const struct file_place places[] = {{room->outside.text, FILE_RIGHT_REMOVE}};
    struct sandbox sandbox = enter(places, 1, false);
    if (!sandbox.files.version || sandbox.calls_failure) return CAGE_MISSING;
    char secret[4 * TEMP_FOLDER_PATH_BYTES], profile[4 * TEMP_FOLDER_PATH_BYTES];
    snprintf(secret, sizeof secret, "%s/secret", room->outside.text);
    snprintf(profile, sizeof profile, "%s/profile", room->inside.text);
    return FIRST_WRONG(is_refused(unlink(profile)), is_refused(open(secret, O_RDONLY | O_CLOEXEC)),
                       unlink(secret) == 0);
}

static void reads_nothing_outside(void **state) {
    in_a_child(*state, tries_to_read_outside);
}

static void reads_nothing_of_the_process_but_how_large_it_is(void **state) {
    in_a_child(*state, tries_to_read_what_it_is);
}

static void reaches_no_others_by_the_rules_for_files(void **state) {
    in_a_child(*state, tries_to_reach_others_by_the_rules_for_files);
}

static void connects_for_a_bucket_by_the_rules_for_files(void **state) {
    in_a_child(*state, connects_by_the_rules_for_files);
}

static void keeps_files_where_it_may(void **state) {
    in_a_child(*state, keeps_files_in_one_folder);
}

static void removes_files_where_it_may(void **state) {
    in_a_child(*state, removes_from_one_folder);
}

// --- Words ---

static void says_what_holds_and_what_is_missing(void **state) {
    (void)state;
    const struct file_place places[] = {
        {"/logs", FILE_RIGHT_READ}, {"/kept", FILE_RIGHT_KEEP}, {"/more", FILE_RIGHT_READ}};
    const struct sandbox_needs of_disk = {places, 1, false}, of_bucket = {places, 3, true};
    struct arena arena;
    arena_init(&arena, 0);
    struct sandbox sandbox = {.files = {.version = 3}};
    assert_string_equal(
        sandbox_text(&sandbox, &of_disk, &arena),
        "Sandbox: starts no programs, opens no connections, writes no files (seccomp); opens only /logs "
        "(landlock 3).");
    assert_string_equal(sandbox_text(&sandbox, &of_bucket, &arena),
                        "Sandbox: starts no programs (seccomp); opens only /logs, /more; writes only to /kept "
                        "(landlock 3).");
    assert_true(sandbox_holds(&sandbox));
    sandbox.calls_failure = EINVAL;
    assert_false(sandbox_holds(&sandbox));
    sandbox = (struct sandbox){.files = {.failure = ENOSYS}};
    assert_false(sandbox_holds(&sandbox));
    assert_non_null(
        strstr(sandbox_text(&sandbox, &of_disk, &arena), "opens whatever its user can (landlock: Function"));
    sandbox.calls_failure = EINVAL;
    assert_non_null(strstr(sandbox_text(&sandbox, &of_disk, &arena), "not filtered (seccomp: Invalid argument)"));
    sandbox.is_instrumented = true;
    assert_true(sandbox_holds(&sandbox));
    assert_non_null(strstr(sandbox_text(&sandbox, &of_disk, &arena), "instrumented"));
    arena_free(&arena);
}

static int set_up(void **state) {
    static struct room room;
    make_room(&room);
    *state = &room;
    return 0;
}

static int tear_down(void **state) {
    struct room *room = *state;
    temp_folder_remove(&room->folder);
    return 0;
}

#define IN_ROOM(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_ROOM(refuses_to_write),
        IN_ROOM(refuses_to_start_programs),
        IN_ROOM(refuses_to_connect),
        IN_ROOM(refuses_to_connect_what_is_at_hand),
        IN_ROOM(refuses_to_signal_by_a_descriptor),
        IN_ROOM(connects_with_a_bucket_but_to_no_service_of_the_machine),
        IN_ROOM(reads_and_starts_threads),
        IN_ROOM(reads_nothing_outside),
        IN_ROOM(reads_nothing_of_the_process_but_how_large_it_is),
        IN_ROOM(reaches_no_others_by_the_rules_for_files),
        IN_ROOM(connects_for_a_bucket_by_the_rules_for_files),
        IN_ROOM(keeps_files_where_it_may),
        IN_ROOM(removes_files_where_it_may),
        cmocka_unit_test(says_what_holds_and_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
