// Compiles the input as a Lua program, and runs it for a limited number of instructions. See README.md.
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/accepted.h"
#include "../common/memory_budget.h"

enum { INSTRUCTIONS = 200000 };

static void *allocate(void *context, void *block, size_t before, size_t size) {
  (void)context, (void)before;
  if (size > 0) return budgeted_realloc(block, size);
  budgeted_free(block);
  return NULL;
}

static void stop(lua_State *state, lua_Debug *where) {
  (void)where;
  lua_sethook(state, stop, LUA_MASKCOUNT, 1); // from now on every instruction fails: the program may catch errors
  luaL_error(state, "too many instructions");
}

// Functions that are not for a fuzzer: other files, output, time, random numbers, loops of any length in C, and finalizers,
// in which instructions are not counted.
static const char *const REMOVED[][2] = {
    {"_G", "dofile"},         {"_G", "load"},         {"_G", "loadfile"}, {"_G", "print"},
    {"_G", "collectgarbage"}, {"_G", "setmetatable"}, {"_G", "warn"},     {"math", "random"},
    {"math", "randomseed"},   {"table", "move"},      {"string", "dump"},
};

static int run(lua_State *state) {
  luaL_requiref(state, "_G", luaopen_base, 1);
  luaL_requiref(state, LUA_STRLIBNAME, luaopen_string, 1);
  luaL_requiref(state, LUA_TABLIBNAME, luaopen_table, 1);
  luaL_requiref(state, LUA_MATHLIBNAME, luaopen_math, 1);
  for (size_t i = 0; i < sizeof REMOVED / sizeof *REMOVED; ++i) {
    lua_getglobal(state, REMOVED[i][0]);
    lua_pushnil(state);
    lua_setfield(state, -2, REMOVED[i][1]);
  }
  lua_settop(state, 2);
  const char *text = lua_touserdata(state, 1);
  size_t size = (size_t)lua_tointeger(state, 2);
  // text only: compiled programs are not checked
  if (luaL_loadbufferx(state, text, size, "input", "t") != LUA_OK) return 0;
  accepted();
  lua_sethook(state, stop, LUA_MASKCOUNT, INSTRUCTIONS);
  lua_pcall(state, 0, 0, 0);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  lua_State *state = lua_newstate(allocate, NULL);
  if (!state) return 0;
  lua_pushcfunction(state, run);
  lua_pushlightuserdata(state, (void *)data);
  lua_pushinteger(state, (lua_Integer)size);
  lua_pcall(state, 2, 0, 0);
  lua_close(state);
  return 0;
}
