/** `crux memory undo`: takes back what was tidied last, note by note, where nobody has changed it since. */
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../../abi/errors.ts";
import { BEFORE_FILE, type KeptNote } from "../../../abi/surroundings.ts";
import type { Call } from "../../command.ts";
import { removeDurably, replaceDurably } from "../../host/durable-file.ts";
import { safeLine } from "../../screen/text/safe-text.ts";

/** Of these folders the one that was tidied last. Returns 1 if a note had to stay as it is. */
export async function undoTidying({ console }: Call, dirs: readonly string[]): Promise<number> {
  const dir = await tidiedLast(dirs);
  if (dir === undefined)
    throw new Fault({ code: "NOT_FOUND", message: "no notes were tidied that could be taken back" });
  const kept = JSON.parse(await readFile(join(dir, BEFORE_FILE), "utf8")) as readonly KeptNote[];
  const restored: string[] = [];
  const changed: string[] = [];
  for (const note of kept) {
    const path = join(dir, note.file);
    const text = await readFile(path, "utf8").catch(() => null);
    if (text === note.was) continue;
    if ((text === null ? null : digestOf(text)) !== note.now) changed.push(path);
    else {
      if (note.was === null) await removeDurably(path);
      else await replaceDurably(path, note.was);
      restored.push(path);
    }
  }
  await removeDurably(join(dir, BEFORE_FILE));
  if (console.mode === "json") await console.data({ restored, changed });
  else if (console.mode !== "quiet") {
    for (const path of restored) await console.line(`as it was: ${safeLine(path)}`);
    for (const path of changed) await console.line(`changed since, left as it is: ${safeLine(path)}`);
  }
  return changed.length === 0 ? 0 : 1;
}

async function tidiedLast(dirs: readonly string[]): Promise<string | undefined> {
  const times = await Promise.all(
    dirs.map((dir) =>
      stat(join(dir, BEFORE_FILE)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  const latest = Math.max(...times);
  return latest === 0 ? undefined : dirs[times.indexOf(latest)];
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
