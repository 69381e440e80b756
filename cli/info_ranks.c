#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "commands.h"
#include "info.h"
#include "message.h"
#include "platform.h"
#include "ranks.h"
#include "reports.h"

/* A rank's description, with the same size on all ranks. */
typedef struct rank_info {
  char host[64], device[128];
  int32_t host_rank, parts, threads, is_hardware;
  uint64_t bytes_total;
} rank_info;

/* The device of a multi-rank context begins with the number of ranks: "4 ranks: NVIDIA H200 (cuda:1)". */
static const char *own_device(const char *device) {
  const char *colon = strstr(device, ": ");
  return colon ? colon + 2 : device;
}

static ts_status describe_own(const ts_context *context, rank_info *mine) {
  ts_context_info info;
  const ts_status status = ts_context_get_info(context, &info);
  if (status < 0) return status;
  platform_host_name(mine->host, sizeof mine->host);
  snprintf(mine->device, sizeof mine->device, "%s", own_device(info.device));
  mine->host_rank = ranks_transport()->host_rank;
  mine->parts = info.parts / ts_ranks_get_count(context);
  mine->threads = info.threads;
  mine->is_hardware = info.is_hardware;
  mine->bytes_total = info.bytes_total;
  return TS_OK;
}

/* All ranks receive the descriptions of all. */
static ts_status gather(ts_context *context, rank_info **all) {
  const int ranks = ts_ranks_get_count(context), mine = ts_ranks_get_rank(context);
  *all = calloc((size_t)ranks, sizeof **all);
  ts_status status = *all ? describe_own(context, &(*all)[mine]) : TS_ERROR_OUT_OF_HOST_MEMORY;
  status = ts_ranks_agree(context, status, NULL);
  for (int r = 0; r < ranks && status == TS_OK; r++)
    status = ts_ranks_broadcast(context, r, &(*all)[r], sizeof **all);
  return status;
}

/* Counts the first ranks of hosts. */
static int count_hosts(const rank_info *all, int ranks) {
  int hosts = 0;
  for (int r = 0; r < ranks; r++) hosts += all[r].host_rank == 0;
  return hosts;
}

/* How ranks exchange ghosts, if the driver reports it; otherwise "". */
static const char *ghosts_of(const ts_context *context) {
  static ts_context_info info;
  const char *ghosts = ts_context_get_info(context, &info) == TS_OK ? strstr(info.driver, ", ghosts ") : NULL;
  return ghosts ? ghosts + strlen(", ") : "";
}

static int print_text(const char *backend, const char *ghosts, const rank_info *all, int ranks) {
  const int hosts = count_hosts(all, ranks);
  printf("texsolve %s\n%-8s available on %d ranks\n", ts_version(), backend, ranks);
  printf("  messages         %s, on %d host%s%s%s\n", ranks_transport()->name, hosts, hosts == 1 ? "" : "s",
         *ghosts ? "; " : "", ghosts);
  for (int r = 0; r < ranks; r++) {
    char label[24];
    snprintf(label, sizeof label, "rank %d", r);
    printf("  %-15s  %s%s, process %d of host %.60s", label, all[r].device,
           all[r].is_hardware ? "" : " (software)", all[r].host_rank, all[r].host);
    if (all[r].parts > 1) printf(", %d parts", all[r].parts);
    if (all[r].threads) printf(", %d thread%s", all[r].threads, all[r].threads == 1 ? "" : "s");
    if (all[r].bytes_total) printf(", %.1f GiB", (double)all[r].bytes_total * 0x1p-30);
    putchar('\n');
  }
  return message_flush_stdout();
}

static int print_json(const char *backend, const char *ghosts, const rank_info *all, int ranks) {
  json_t *list = json_array();
  int lost = 0;
  for (int r = 0; r < ranks; r++)
    lost |= json_array_append_new(
        list, json_pack("{s:i, s:s, s:i, s:s, s:b, s:i, s:i, s:I}", "rank", r, "host", all[r].host, "host_rank",
                        all[r].host_rank, "device", all[r].device, "hardware", all[r].is_hardware, "threads",
                        all[r].threads, "parts", all[r].parts, "bytes_total", (json_int_t)all[r].bytes_total));
  json_t *object =
      json_pack("{s:s, s:s, s:s, s:i, s:o}", "version", ts_version(), "backend", backend, "transport",
                ranks_transport()->name, "hosts", count_hosts(all, ranks), "ranks", list);
  if (*ghosts && object) lost |= json_object_set_new(object, "ghosts", json_string(ghosts + strlen("ghosts ")));
  return report_print(object, lost || !object);
}

int info_of_ranks(const char *backend, int json) {
  const ts_context_desc desc = {.backend = backend ? backend : "auto"};
  ts_context *context = NULL;
  rank_info *all = NULL;
  int result = backend_open(&desc, 0, &context);
  if (!result) {
    const ts_status status = gather(context, &all);
    if (status < 0) {
      message("--backend %s: %s", desc.backend, ts_last_error(context));
      ranks_agreed();
      result = EXIT_ERROR;
    } else if (ranks_is_root() && (json ? print_json : print_text)(desc.backend, ghosts_of(context), all,
                                                                   ts_ranks_get_count(context))) {
      result = EXIT_ERROR;
    }
  }
  free(all);
  ts_context_destroy(&context);
  ranks_end(result == EXIT_ERROR);
  return result;
}
