// Tells the thread sanitizer what Swift's runtime orders: the runtime itself is not built with it. Linked into the
// programs that .ci/sanitize runs. Nothing is suppressed here: what the runtime does not order is reported as ever.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern void __tsan_acquire(void *address);
extern void __tsan_release(void *address);

// Reference counts. Who lets go of an array has read it before whoever then finds itself its only owner writes it: a
// release is an atomic release, and the question whether a reference is the only one an acquire. Without them every
// array that is copied out of a lock, read, and later changed in place within the lock would be taken for a race.

static void (*release)(void *object);
static void (*release_n)(void *object, uint32_t count);
static bool (*is_unique)(const void *object);

// The runtime's own, looked up by whoever comes first.
static void find(void) {
    if (is_unique != NULL) return;
    release = dlsym(RTLD_NEXT, "swift_release");
    release_n = dlsym(RTLD_NEXT, "swift_release_n");
    is_unique = dlsym(RTLD_NEXT, "swift_isUniquelyReferenced_nonNull_native");
}

// What its last owner lets go of is gone: nobody is there to be told.
static void tell(void *object) {
    find();
    if ((intptr_t)object > 0 && !is_unique(object)) __tsan_release(object);
}

void swift_release(void *object) {
    tell(object);
    release(object);
}

void swift_release_n(void *object, uint32_t count) {
    tell(object);
    release_n(object, count);
}

bool swift_isUniquelyReferenced_nonNull_native(const void *object) {
    find();
    bool result = is_unique(object);
    if (result) __tsan_acquire((void *)object);
    return result;
}

// Continuations. What a task is resumed with was written before it goes on, also where it had not come to wait yet.

#define SWIFT __attribute__((swiftcall))
#define SWIFT_ASYNC __attribute__((swiftasynccall))

extern SWIFT void *swift_task_getCurrent(void);

SWIFT void swift_continuation_resume(void *task) {
    static SWIFT void (*resume)(void *task);
    if (resume == NULL) resume = dlsym(RTLD_NEXT, "swift_continuation_resume");
    __tsan_release(task);
    resume(task);
}

SWIFT void swift_continuation_throwingResume(void *task) {
    static SWIFT void (*resume)(void *task);
    if (resume == NULL) resume = dlsym(RTLD_NEXT, "swift_continuation_throwingResume");
    __tsan_release(task);
    resume(task);
}

SWIFT void swift_continuation_throwingResumeWithError(void *task, void *error) {
    static SWIFT void (*resume)(void *task, void *error);
    if (resume == NULL) resume = dlsym(RTLD_NEXT, "swift_continuation_throwingResumeWithError");
    __tsan_release(task);
    resume(task, error);
}

SWIFT_ASYNC void swift_continuation_await(void *context) {
    static SWIFT_ASYNC void (*await)(void *context);
    if (await == NULL) await = dlsym(RTLD_NEXT, "swift_continuation_await");
    __tsan_acquire(swift_task_getCurrent());
    __attribute__((musttail)) return await(context);
}

// Arguments that are `inout`. The compiler tells of an access to each; to one without a size, such as the system's random
// number generator, at an address that is none. The sanitizer has no shadow for these.

extern void __real___tsan_external_write(void *address, void *caller, void *tag);

// Whether programs have memory there, in the sanitizer's layout of 48 bits.
static bool is_memory(uintptr_t place) {
#ifdef __x86_64__
    return (place >= 0x1000 && place < 0x020000000000) || (place >= 0x550000000000 && place < 0x5a0000000000) ||
           (place >= 0x720000000000 && place < 0x730000000000) || (place >= 0x7a0000000000 && place < 0x800000000000);
#else
    return place >= 0x1000;
#endif
}

void __wrap___tsan_external_write(void *address, void *caller, void *tag) {
    if (is_memory((uintptr_t)address)) __real___tsan_external_write(address, caller, tag);
}
