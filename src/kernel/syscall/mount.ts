import type { McpConfig, McpState } from "../../abi/mcp.ts";
import type { Call } from "./call.ts";

export const mount: Call<{ path: string; config: McpConfig }, { path: string; state: McpState }> = {
  name: "Mount",
  holds: true,
  args: ({ path, config }) => ({ path, server: config.type }),
  run() {
    throw new Error("to be written");
  },
};
