import type { McpConfig } from "../../../abi/mcp.ts";
import type { Params } from "../../../abi/methods/methods.ts";
import type { Handler } from "../handler.ts";
import { invalid } from "../request.ts";

export const mcpList: Handler<"mcp.list"> = async (_params, { kernel }) => ({
  payload: {
    mounts: kernel.listMounts().map(({ path, pid, server, state, tools, servicePid, problem }) => ({
      path,
      pid,
      server,
      state,
      tools,
      service_pid: servicePid,
      problem,
    })),
  },
});

export const mcpMount: Handler<"mcp.mount"> = async ({ path, config }, { kernel, gone }) => ({
  payload: await kernel.init.mount(path, toConfig(config), gone),
});

export const mcpUnmount: Handler<"mcp.unmount"> = async ({ path }, { kernel }) => {
  await kernel.init.unmount(path);
  return { payload: undefined };
};

function toConfig(config: Params<"mcp.mount">["config"]): McpConfig {
  if (config.type === "http") {
    const { sse, ...plain } = config;
    return sse === undefined ? plain : { ...plain, sse };
  }
  const { cwd, confined, ...rest } = config;
  const within = confined === undefined ? {} : { confined };
  if (cwd === undefined && confined !== undefined)
    throw invalid("payload.config.cwd: needed by a confined server");
  if (cwd === undefined) return rest;
  if (!cwd.startsWith("/")) throw invalid(`payload.config.cwd: must be absolute: ${cwd}`);
  return { ...rest, cwd, ...within };
}
