/** Checks lines of print mode against the published schema, as a program elsewhere would. */
import { readFileSync } from "node:fs";
import { fromJSONSchema, prettifyError } from "zod";

const path = new URL("../../../docs/crux.print.schema.json", import.meta.url);
const schema = fromJSONSchema(JSON.parse(readFileSync(path, "utf8")));

export interface Line {
  readonly type: string;
  readonly subtype?: string;
  readonly [key: string]: unknown;
}

/** The lines of an output. Throws for one that is not as published. */
export function checkedLines(out: string): Line[] {
  if (!out.endsWith("\n")) throw new Error(`the last line has no end: ${out.slice(-80)}`);
  return out
    .slice(0, -1)
    .split("\n")
    .map((line) => {
      const value = JSON.parse(line) as Line;
      const checked = schema.safeParse(value);
      if (!checked.success) throw new Error(`${line}\n${prettifyError(checked.error)}`);
      return value;
    });
}

/** The lines without what differs from run to run; their uuids are checked to be different. */
export function plain(lines: readonly Line[]): object[] {
  const uuids = lines.filter(({ type }) => type !== "control_response").map(({ uuid }) => uuid);
  if (new Set(uuids).size !== uuids.length) throw new Error("two lines have one uuid");
  return lines.map(({ uuid: _, session_id: __, parent_tool_use_id: ___, ...line }) => line);
}
