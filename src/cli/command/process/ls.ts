/** `crux ls [path]`: the names below a path of the kernel's own tree. */
import type { Result } from "../../../abi/methods/methods.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { type Column, table } from "../../screen/table/table.ts";
import { safeLine } from "../../screen/text/safe-text.ts";
import { kernelPath } from "./cat.ts";

export const ls: Command = { flags: { long: { type: "boolean", short: "l" } }, run };

type Entry = Result<"file.list">["entries"][number];

async function run({ args, console, host }: Call): Promise<number> {
  const [word = "/", ...more] = args.words;
  if (more[0] !== undefined)
    throw invalid(`one path at a time: ${args.words.join(" ")}`, "crux ls [-l] [path]");
  const path = kernelPath(word);
  const isLong = args.flags.has("long");
  const client = await host.daemon.ensure();
  try {
    const found = await client.request("file.list", {
      path,
      ...(isLong ? { sizes: true } : {}),
    });
    if (console.mode === "json") await console.data(found);
    else if (isLong && console.isScreen) await console.line(table(COLUMNS, found.entries, console.room));
    else if (found.entries.length > 0)
      await console.line(found.entries.map((entry) => shown(entry, console.isScreen)).join("\n"));
    if (found.more > 0) await console.errorLine(`! ${found.path}: ${found.more} more`);
  } finally {
    client.close();
  }
  return 0;
}

function shown({ name, kind }: Entry, isMarked: boolean): string {
  return `${safeLine(name)}${isMarked && kind === "directory" ? "/" : ""}`;
}

const COLUMNS: readonly Column<Entry>[] = [
  { head: "KIND", align: "left", cell: ({ kind }) => kind },
  { head: "SIZE", align: "right", cell: ({ size }) => (size === undefined ? "—" : String(size)) },
  { head: "NAME", align: "left", cell: (entry) => shown(entry, true) },
];
