/** The arguments of view, and its data for user interfaces. */
import * as z from "zod";

export const Args = z.object({
  file_path: z.string().min(1),
  offset: z.int().min(0).default(0),
  limit: z.int().min(1).default(2000),
  pages: z.string().optional().describe("of a PDF: 3-7"),
});
export type Args = z.output<typeof Args>;

/** For a notebook, lines are cells; for a PDF, pages. */
export const Meta = z.strictObject({
  file_path: z.string(),
  content: z.string(),
  total_lines: z.int().nullable(),
  offset: z.int(),
  lines: z.int(),
  type: z.enum(["text", "image", "pdf", "notebook", "unchanged"]),
});
