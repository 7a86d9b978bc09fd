/**
 * What is too long for a message goes as a file: the pasted texts, the longest first, are written to the scratch folder of
 * the session, which goes with it, and the message names them. Where that is not here (a session that has not begun, a daemon
 * elsewhere) they go to a folder below that for temporary files, and an agent that reads one asks.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROTOCOL } from "../../abi/wire.ts";
import type { Phrases } from "../../cli/screen/words/en.ts";
import { type Buffer, sentText } from "./buffer.ts";

interface Sending {
  readonly editing: { readonly buffer: Buffer };
  readonly words: Phrases;
  readonly model: { readonly uuid: string | undefined };
  readonly keep: { scratchOf(uuid: string | undefined): string | undefined };
  say(text: string, level: "error"): void;
  fail(error: unknown): void;
}

/** The text in the editor as it can be sent; undefined: it cannot, which is said. */
export function sendable(app: Sending): string | undefined {
  const most = PROTOCOL.textChars;
  try {
    const text = withFiles(app.editing.buffer, most, app.keep.scratchOf(app.model.uuid));
    if (text.length <= most) return text;
    app.say(app.words.act.tooLong(text.length, most), "error");
  } catch (error) {
    app.fail(error);
  }
  return undefined;
}

function withFiles(buffer: Buffer, most: number, scratch: string | undefined): string {
  const longest = [...buffer.pastes.keys()]
    .filter((at) => buffer.text.includes(`[Pasted text #${at + 1}`))
    .sort((a, b) => (buffer.pastes[b]?.length ?? 0) - (buffer.pastes[a]?.length ?? 0));
  let shown = buffer;
  for (const at of longest) {
    if (sentText(shown).length <= most) break;
    const text = buffer.pastes[at] ?? "";
    // a name that no agent has put a link at
    const path = join(scratch ?? mkdtempSync(join(tmpdir(), "crux-paste-")), `paste-${randomUUID()}.txt`);
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
    const mark = `[Pasted text #${at + 1}: ${text.length} characters, in the file ${path}]`;
    shown = { ...shown, pastes: shown.pastes.with(at, mark) };
  }
  return sentText(shown);
}
