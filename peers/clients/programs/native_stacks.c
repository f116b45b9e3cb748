/* Native stacks of clients in C upon a fatal signal; preloaded (LD_PRELOAD) into the programs of such clients.

   faulthandler prints the frames of Python alone, then calls this handler. Each frame is a line
   `file(+0xoffset)[0xaddress]`; fuzz/targets/clients/native_frames.py names the functions. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
enum { COUNT = sizeof fatal / sizeof *fatal, FRAMES = 64 };

/* Only calls that are allowed in a signal handler: memory may be corrupt. The signal then ends the process. */
static void show(int number) {
    static const char title[] = "Native stack:\n";
    void *frames[FRAMES];
    (void)number;
    if (write(2, title, sizeof title - 1) > 0)
        backtrace_symbols_fd(frames, backtrace(frames, FRAMES), 2);
}

__attribute__((constructor)) static void begin(void) {
    void *frames[1];
    struct sigaction action = {.sa_handler = show, .sa_flags = SA_RESETHAND | SA_NODEFER};
    backtrace(frames, 1); /* loads the library that unwinds */
    for (int i = 0; i < COUNT; i++)
        sigaction(fatal[i], &action, NULL);
}

/* librdkafka blocks all signals in its threads: a fatal one would end the process without a handler. */
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
    int (*original)(int, const sigset_t *, sigset_t *) = dlsym(RTLD_NEXT, "pthread_sigmask");
    sigset_t open;
    if (set && how != SIG_UNBLOCK) {
        open = *set;
        for (int i = 0; i < COUNT; i++)
            sigdelset(&open, fatal[i]);
        set = &open;
    }
    return original(how, set, old);
}
