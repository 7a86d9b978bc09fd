/** Small files of the host, as a program reads and writes them by itself: through the gate, like a call of its model. */
import { createHash } from "node:crypto";
import { O_RDWR } from "../../abi/device.ts";
import type { FsRequest } from "../../abi/ops/fs.ts";
import type { Sys } from "../../abi/sys.ts";

const ANSWER_BYTES = 1_048_576;

/** What a file held. */
export interface HostText {
  readonly text: string;
  /** SHA-256 of its bytes, hex: `expect` of a write. */
  readonly sha256: string;
}

export function digestOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** At most its first MiB. NOT_FOUND: there is none. */
export async function readHostText(sys: Sys, path: string): Promise<HostText> {
  const bytes = await askFs(sys, path, { op: "read", length: ANSWER_BYTES });
  return { text: Buffer.from(bytes).toString("utf8"), sha256: digestOf(bytes) };
}

/** `expect`: what it must hold now, null: it must not exist; otherwise CONFLICT. Returns the digest of what it holds then. */
export async function writeHostText(
  sys: Sys,
  path: string,
  { text, expect }: { readonly text: string; readonly expect: string | null },
): Promise<string> {
  await askFs(sys, path, { op: "write", content: text, expect });
  return digestOf(text);
}

export async function removeHostFile(sys: Sys, path: string): Promise<void> {
  await askFs(sys, path, { op: "remove" });
}

async function askFs(sys: Sys, path: string, request: FsRequest): Promise<Uint8Array> {
  const fd = await sys.open(`/dev/fs${path}`, O_RDWR, sys.ending);
  try {
    await sys.write(fd, new TextEncoder().encode(JSON.stringify(request)), sys.ending);
    return await sys.read(fd, ANSWER_BYTES, sys.ending);
  } finally {
    await sys.close(fd).catch(() => undefined);
  }
}
