/** Methods on the kernel's own tree, the paths that agents open, as the user sees them. */
import * as z from "zod";
import type { MethodSpec } from "./spec.ts";

const path = z.string().startsWith("/").max(4096);

export const FILE_METHODS = {
  "file.list": {
    summary: "the names below a path of the kernel's own tree",
    kind: "request",
    right: "admin",
    params: z
      .strictObject({ path, sizes: z.boolean().optional() })
      .describe("`sizes` adds the size of each entry that has one."),
    result: z
      .strictObject({
        path: z.string(),
        entries: z.array(
          z.strictObject({
            name: z.string(),
            kind: z.enum(["directory", "file", "device"]),
            size: z.int().optional(),
          }),
        ),
        more: z.int(),
      })
      .describe("At most 1,000 entries; `more` is the number of those left out."),
  },
  "file.read": {
    summary: "what a file of the kernel's own tree holds",
    kind: "request",
    right: "admin",
    params: z.strictObject({ path }),
    result: z
      .strictObject({ path: z.string(), base64: z.base64(), truncated: z.boolean() })
      .describe("At most 4 MiB; `truncated` is true when there is more. Known secrets are masked."),
  },
} as const satisfies Record<string, MethodSpec>;
