/** The methods of the daemon itself and of authentication. */
import * as z from "zod";
import { SANDBOX_KINDS } from "../sandbox.ts";
import { empty, type MethodSpec, pid } from "./spec.ts";

/** In safe mode: the number of recorded agents that were not restored, and the first of their pids. */
const unrestored = z.strictObject({ agents: z.int(), pids: z.array(pid) });

export const KERNEL_METHODS = {
  ping: {
    summary: "liveness and version",
    kind: "request",
    right: "self",
    params: empty,
    result: z
      .strictObject({
        version: z.string(),
        safe_mode: z.literal(true).optional(),
        unrestored: unrestored.optional(),
        read_only: z.string().optional(),
      })
      .describe(
        "`safe_mode`: the daemon restored nothing that earlier daemons left. `read_only`: why nothing can be written or run.",
      ),
  },
  auth: {
    summary:
      "show the cookie of the runtime directory: this connection may answer, grant and administer from now on",
    kind: "request",
    right: "self",
    params: z.strictObject({ cookie: z.string().min(1).max(256) }),
    result: z
      .strictObject({ principal: z.string() })
      .describe("`user`, or `process:3` for a program that process 3 started, which gains no rights."),
  },
  "kernel.status": {
    summary: "what the daemon is doing",
    kind: "request",
    right: "observe",
    params: empty,
    result: z.strictObject({
      version: z.string(),
      os_pid: z.int(),
      processes: z.int(),
      connections: z.int(),
      uptime_ms: z.int(),
      safe_mode: z.literal(true).optional(),
      unrestored: unrestored.optional(),
      read_only: z.string().optional(),
      peers: z
        .literal("directory")
        .optional()
        .describe(
          "Present when this host cannot tell who connects; the private folder of the socket protects it instead.",
        ),
      sandbox: z
        .strictObject({
          available: z.boolean(),
          mode: z.enum(["on", "off", "required"]),
          kind: z.enum(SANDBOX_KINDS).optional(),
          why: z.string().optional(),
          fix: z.string().optional(),
        })
        .optional()
        .describe(
          "Whether commands run in a sandbox. `mode` is the setting; `why` and `fix` are present when the machine cannot do it, or only by a kind that promises less.",
        ),
      swept_worktrees: z
        .array(z.string())
        .optional()
        .describe(
          "Worktrees of agents that nothing used any more and that this daemon has removed, the last 20.",
        ),
    }),
  },
  "kernel.metrics": {
    summary: "what the daemon uses",
    kind: "request",
    right: "observe",
    params: empty,
    result: z.strictObject({
      at: z.int(),
      uptime_ms: z.int(),
      rss_bytes: z.int(),
      heap_bytes: z.int(),
      loop_lag_ms: z.number().describe("Longest delay of the event loop in the last seconds."),
      processes: z.int(),
      connections: z.int(),
      os_children: z.int(),
      timers: z.int().describe("Active timers in the daemon; a number that rises for days is a leak."),
    }),
  },
  shutdown: {
    summary: "end all processes and stop the daemon",
    kind: "request",
    right: "admin",
    params: empty,
    result: undefined,
  },
} as const satisfies Record<string, MethodSpec>;
