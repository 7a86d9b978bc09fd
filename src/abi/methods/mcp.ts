/** The methods of mounted MCP servers. */
import * as z from "zod";
import { empty, environment, type MethodSpec, pid } from "./spec.ts";

const mcpConfig = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("stdio"),
    command: z.string().min(1),
    args: z.array(z.string()),
    env: environment,
    cwd: z.string().optional(),
    confined: z
      .literal(true)
      .optional()
      .describe("It runs in the sandbox of an agent's commands, and needs a `cwd`."),
  }),
  z.strictObject({
    type: z.literal("http"),
    url: z.url(),
    headers: environment,
    sse: z.literal(true).optional().describe("The transport before streamable HTTP."),
  }),
]);

const MAX_SERVERS_CHARS = 64 * 1024;

/** Servers of a client, for one process. */
export const GivenServers = z
  .record(z.string().max(256), z.record(z.string(), z.unknown()))
  .refine((map) => JSON.stringify(map).length <= MAX_SERVERS_CHARS, "over 64 KiB of JSON");

const mountView = z.strictObject({
  path: z.string(),
  pid,
  server: z.string(),
  state: z.enum(["pending", "connected", "failed"]),
  tools: z.int(),
  service_pid: pid.nullable(),
  problem: z.string(),
});

export const MCP_METHODS = {
  "mcp.list": {
    summary: "mounted MCP servers",
    kind: "request",
    right: "observe",
    params: empty,
    result: z.strictObject({ mounts: z.array(mountView) }),
  },
  "mcp.mount": {
    summary: "mount an MCP server for all processes",
    kind: "request",
    right: "admin",
    params: z.strictObject({ path: z.string(), config: mcpConfig }),
    result: z.strictObject({ path: z.string(), state: z.enum(["pending", "connected", "failed"]) }),
  },
  "mcp.unmount": {
    summary: "unmount an MCP server",
    kind: "request",
    right: "admin",
    params: z.strictObject({ path: z.string() }),
    result: undefined,
  },
} as const satisfies Record<string, MethodSpec>;
