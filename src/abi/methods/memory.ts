/** The method on the memory of agents: which notes there are. */
import * as z from "zod";
import type { MethodSpec } from "./spec.ts";

const note = z.strictObject({
  scope: z.enum(["local", "user"]).describe("local: of this project; user: of the user, for all projects."),
  path: z.string(),
  bytes: z.int(),
  type: z.string().describe('user, feedback, project or reference; "": not stated.'),
  description: z.string(),
  problem: z.string().describe('What keeps agents from finding or reading it; "": nothing.'),
});
export type Note = z.infer<typeof note>;

export const MEMORY_METHODS = {
  "memory.list": {
    summary: "notes that agents keep of a project and of the user",
    kind: "request",
    right: "control",
    params: z.strictObject({ cwd: z.string().startsWith("/") }),
    result: z.strictObject({
      folders: z.strictObject({ local: z.string(), user: z.string() }),
      notes: z.array(note),
    }),
  },
} as const satisfies Record<string, MethodSpec>;
