/**
 * Files below the folder of a session that an editor shows: reads see its unsaved text, writes go through it. Only text
 * is asked for; all else is read and written on the disk, as without an editor.
 */
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import type { FsRequest, FsWritten } from "../../abi/ops/fs.ts";
import { driverError, throwIfAborted } from "../driver-error.ts";
import { makeParents } from "../folder.ts";
import { Announcer } from "./announce.ts";
import type { EditorFiles } from "./editors.ts";
import { readPart } from "./ops.ts";
import { findFile, findWritable, openChecked } from "./regular.ts";
import { checkExpected, type Replacement } from "./replace.ts";

/** A larger file is not asked for. */
const MAX_BYTES = 4 * 1024 * 1024;
const MARK = "\uFEFF";

type ReadRequest = Extract<FsRequest, { op: "read" }>;

/** As `readPart`, with the text of the editor where it differs from the file. */
export async function readBuffer(
  editor: EditorFiles,
  { real, request }: { readonly real: string; readonly request: ReadRequest },
  signal: AbortSignal,
): Promise<Uint8Array> {
  const bytes = await currentBytes(editor, real, signal);
  if (bytes === undefined) return readPart(real, request, signal);
  const from = request.offset ?? 0;
  return bytes.subarray(from, request.length === undefined ? undefined : from + request.length);
}

/** As `replaceFile`; undefined: the editor cannot take this content. The caller holds the lock of `real`. */
export async function writeBuffer(
  editor: EditorFiles,
  { real, want }: { readonly real: string; readonly want: Replacement },
  signal: AbortSignal,
): Promise<FsWritten | undefined> {
  if (editor.write === undefined) return undefined;
  const before = await findWritable(real, "Write");
  const now = before === undefined ? null : ((await currentBytes(editor, real, signal)) ?? undefined);
  if (now === undefined) return undefined;
  if (want.expect !== undefined)
    checkExpected(real, now === null ? null : createHash("sha256").update(now).digest("hex"), want.expect);
  const next = contentOf(now ?? Buffer.alloc(0), want);
  if (next.byteLength > MAX_BYTES || !isUtf8(next)) return undefined;
  const sha256 = createHash("sha256").update(next).digest("hex");
  const made = want.mkdirs ? makeParents(real) : [];
  const after = { kind: "file", digest: sha256, mode: Number(before?.mode ?? 0n) & 0o7777 } as const;
  const { changing, call } = want;
  const mode = await new Announcer(changing, call).tell({ path: real, before, after, made });
  throwIfAborted(signal, "Write");
  await editor.write(real, next.toString("utf8"), signal);
  if (mode !== null) {
    await using handle = await openChecked(
      real,
      { flags: constants.O_RDONLY | constants.O_NONBLOCK },
      "Write",
    );
    await handle.chmod(mode);
  }
  return { ok: true, created: before === undefined, sha256 };
}

/** What the editor shows, as the bytes of the file would be; undefined: it is no text, or too large. */
async function currentBytes(
  editor: EditorFiles,
  real: string,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const stats = await findFile(real, "Read");
  if (stats === undefined || stats.size > BigInt(MAX_BYTES)) return undefined;
  const saved = Buffer.from(await readPart(real, { op: "read" }, signal));
  if (saved.byteLength > MAX_BYTES || !isUtf8(saved)) return undefined;
  const text = await editor.read?.(real, signal);
  return text === undefined ? saved : unsaved(saved, text);
}

/** An editor may leave out the mark at the beginning, and have line ends of its own: that is no change. */
function unsaved(saved: Buffer, shown: string): Buffer {
  const old = saved.toString("utf8");
  if (plain(old) === plain(shown)) return saved;
  const isMarked = old.startsWith(MARK) && !shown.startsWith(MARK);
  const isCarried = old.includes("\r\n") && !shown.includes("\r\n");
  return Buffer.from(`${isMarked ? MARK : ""}${isCarried ? shown.replaceAll("\n", "\r\n") : shown}`);
}

function plain(text: string): string {
  return text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
}

function contentOf(now: Buffer, { content, append, part }: Replacement): Buffer {
  if (append) return Buffer.concat([now, content]);
  if (part === undefined) return Buffer.from(content);
  const end = part.at + part.length;
  if (end > now.byteLength)
    throw driverError("Write", "INVALID", `fs: write.part: the file has ${now.byteLength} bytes`);
  return Buffer.concat([now.subarray(0, part.at), content, now.subarray(end)]);
}
