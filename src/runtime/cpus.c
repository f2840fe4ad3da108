// SPDX-License-Identifier: MIT
// How many CPUs this process may use: the smaller of its affinity mask and its cgroup quota. In:
// the kernel's files; out: at least 1. Quotas are read for the process's group and every group
// above it, in both versions of the interface, since any of them throttles. Plain read() into a
// local buffer: nothing is allocated, and a file that is missing or odd counts as no limit.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime.h"

enum { PATH = 4096 };

// The file's beginning as a string; false when it cannot be read.
static bool slurp(const char *path, char *text, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    size_t have = 0;
    ssize_t got;
    while (have + 1 < size && (got = read(fd, text + have, size - 1 - have)) > 0)
        have += (size_t)got;
    close(fd);
    text[have] = 0;
    return have > 0;
}

static int cpus_of(long long quota, long long period) {
    if (quota <= 0 || period <= 0) return 0;
    long long cpus = quota / period + (quota % period != 0);
    return cpus > 1 << 20 ? 0 : (int)cpus;
}

static int smaller_limit(int a, int b) {
    return !a ? b : !b ? a : MIN_OF(a, b);
}

static int quota_v2(const char *dir) {
    char path[PATH + 32], text[128];
    snprintf(path, sizeof path, "%s/cpu.max", dir);
    long long quota, period;
    if (!slurp(path, text, sizeof text)) return 0;
    return sscanf(text, "%lld %lld", &quota, &period) == 2 ? cpus_of(quota, period)
                                                           : 0; // "max": none
}

static int quota_v1(const char *dir) {
    char path[PATH + 32], quota[64], period[64];
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", dir);
    if (!slurp(path, quota, sizeof quota)) return 0;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", dir);
    if (!slurp(path, period, sizeof period)) return 0;
    return cpus_of(atoll(quota), atoll(period));
}

// The least quota of a group and those above it, up to the mount.
static int quota_upwards(const char *mount, const char *group, int (*quota)(const char *dir)) {
    char dir[PATH];
    const size_t stem = strlen(mount);
    if (stem + strlen(group) + 1 > sizeof dir) return 0;
    memcpy(dir, mount, stem + 1);
    strcpy(dir + stem, group);
    int least = 0;
    for (;;) {
        least = smaller_limit(least, quota(dir));
        char *slash = strrchr(dir + stem, '/');
        if (!slash) return least;
        *slash = 0;
    }
}

// One line of /proc/self/cgroup: number:controllers:group
static int quota_of_line(const char *root, const char *line) {
    static const char *const v1[] = {"cpu", "cpu,cpuacct"};
    const char *names = strchr(line, ':');
    const char *group = names ? strchr(names + 1, ':') : NULL;
    if (!group) return 0;
    const size_t len = (size_t)(group - names - 1);
    char mount[PATH];
    if (len == 0) {
        snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
        return quota_upwards(mount, group + 1, quota_v2);
    }
    int least = 0;
    for (size_t i = 0; i < COUNT_OF(v1); i++) {
        if (strlen(v1[i]) != len || memcmp(v1[i], names + 1, len) != 0) continue;
        snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/%s", root, v1[i]);
        least = smaller_limit(least, quota_upwards(mount, group + 1, quota_v1));
        snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/cpu", root);
        least = smaller_limit(least, quota_upwards(mount, group + 1, quota_v1));
    }
    return least;
}

int rt_cpu_quota(const char *root) {
    char path[PATH], text[PATH];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (!slurp(path, text, sizeof text)) return 0;
    int least = 0;
    for (char *line = text; line && *line;) {
        char *end = strchr(line, '\n');
        if (end) *end = 0;
        least = smaller_limit(least, quota_of_line(root, line));
        line = end ? end + 1 : NULL;
    }
    return least;
}

// CPUs in the affinity mask; the kernel refuses a mask shorter than its own, so this one is long.
static int affinity_count(void) {
    union {
        cpu_set_t first;
        unsigned char bytes[8192]; // 65536 CPUs
    } mask;
    if (sched_getaffinity(0, sizeof mask, &mask.first) != 0) return 1;
    return CPU_COUNT_S(sizeof mask, &mask.first);
}

int rt_cpu_count(void) {
    const int saved = errno;
    int count = smaller_limit(affinity_count(), rt_cpu_quota(""));
    errno = saved;
    return MAX_OF(count, 1);
}
