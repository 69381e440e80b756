/* Grids: spaces with texels of a picture as indices. */
#include "common/core/core.h"
#include "grid.h"

static ts_status check_dimension(ts_context *context, const char *name, int32_t size, int periodic) {
  const int32_t max = context->caps.max_texture_size;
  if (size < 1) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is %d, less than 1", name, size);
  if (periodic && size < 3)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "%s is %d; a periodic dimension needs at least 3 points", name, size);
  if (max && size > max)
    return tsi_fail(context, TS_ERROR_LIMIT, "%s is %d; the device's largest texture is %d x %d", name, size,
                    max, max);
  return TS_OK;
}

ts_status ts_grid_create(ts_context *context, const ts_grid_desc *desc, ts_space **grid) {
  TSI_BEGIN(context, context);
  TSI_REQUIRE(context, grid);
  *grid = NULL;
  TSI_REQUIRE(context, desc);
  TSI_TRY(tsi_check_reserved(context, "", desc->reserved, sizeof desc->reserved));
  TSI_TRY(check_dimension(context, "width", desc->width, desc->periodic_x));
  TSI_TRY(check_dimension(context, "height", desc->height, desc->periodic_y));
  const int64_t points = (int64_t)desc->width * desc->height;
  if (points > TSI_MAX_SIZE)
    return tsi_fail(context, TS_ERROR_LIMIT, "a grid of %d x %d has %lld points, more than %d", desc->width,
                    desc->height, (long long)points, TSI_MAX_SIZE);
  tsi_tiling tiling = {.size = (int32_t)points,
                       .free_count = (int32_t)points,
                       .rectangles_x = desc->width,
                       .free_rectangles = (int32_t)points,
                       .width = desc->width,
                       .height = desc->height,
                       .zero_position = -1};
  if (context->caps.linear_spaces) { /* linear, like all spaces of such a backend */
    tiling.linear = 1;
    tiling.free_rectangles = 0;
    tiling.rectangles_x = tiling.width = tiling.size;
    tiling.height = 1;
  }
  TSI_TRY(tsi_space_create(context, &tiling, NULL, grid));
  (*grid)->grid = (tsi_grid){desc->width, desc->height, desc->periodic_x != 0, desc->periodic_y != 0};
  return TS_OK;
}

ts_status ts_grid_get_desc(const ts_space *grid, ts_grid_desc *desc) {
  TSI_BEGIN(grid, grid->context);
  ts_context *context = grid->context;
  TSI_REQUIRE(context, desc);
  if (!grid->grid.width) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "the space is not a grid");
  *desc = (ts_grid_desc){.width = grid->grid.width,
                         .height = grid->grid.height,
                         .periodic_x = grid->grid.periodic_x,
                         .periodic_y = grid->grid.periodic_y};
  return TS_OK;
}
