/** The methods of the children of supervisors. */
import * as z from "zod";
import { type MethodSpec, name, pid } from "./spec.ts";

export const SUPERVISOR_METHODS = {
  "supervisor.start_child": {
    summary: "start a child that is stopped",
    kind: "request",
    right: "control",
    params: z.strictObject({ pid, child: name }),
    result: undefined,
  },
  "supervisor.stop_child": {
    summary: "stop a child; it stays stopped",
    kind: "request",
    right: "control",
    params: z.strictObject({ pid, child: name }),
    result: undefined,
  },
  "supervisor.restart_child": {
    summary: "stop a child and start it again",
    kind: "request",
    right: "control",
    params: z.strictObject({ pid, child: name }),
    result: undefined,
  },
} as const satisfies Record<string, MethodSpec>;
