/** What view is asked for, and what it tells user interfaces. */
import * as z from "zod";

export const Args = z.object({
  file_path: z.string().min(1),
  offset: z.int().min(0).default(0).describe("first line, counted from 0"),
  limit: z.int().min(1).default(2000).describe("number of lines"),
  pages: z.string().optional().describe("of a PDF: 3-7"),
});
export type Args = z.output<typeof Args>;

/** Of a notebook the lines are cells, of a PDF pages. */
export const Meta = z.strictObject({
  file_path: z.string(),
  content: z.string(),
  total_lines: z.int().nullable(),
  offset: z.int(),
  lines: z.int(),
  type: z.enum(["text", "image", "pdf", "notebook", "unchanged"]),
});
