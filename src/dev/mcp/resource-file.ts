/** A resource: asked for at the first read, then read like a file. */
import type { FileStat, OpenFile } from "../../abi/device.ts";
import { linkSignals } from "../../lib/abort.ts";
import { driverError, throwIfAborted } from "../driver-error.ts";
import type { PooledTransport } from "./pooled-transport.ts";

export class ResourceFile implements OpenFile {
  readonly #transport: PooledTransport;
  readonly #uri: string;
  readonly #stat: FileStat;
  readonly #closing = new AbortController();
  #rest: Uint8Array | null = null;

  constructor(transport: PooledTransport, uri: string, stat: FileStat) {
    this.#transport = transport;
    this.#uri = uri;
    this.#stat = stat;
  }

  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    throwIfAborted(signal, "Read");
    this.#transport.checkMounted("Read");
    if (this.#rest === null) {
      using linked = linkSignals(signal, this.#closing.signal);
      this.#rest = contentsOf(await this.#transport.readResource(this.#uri, linked.signal));
    }
    const part = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(part.byteLength);
    return part;
  }

  async write(): Promise<void> {
    throw driverError("Write", "PERMISSION", "read-only");
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#rest = new Uint8Array(0);
  }

  async stat(): Promise<FileStat> {
    return this.#stat;
  }
}

/** Texts and bytes one after another, with a newline between: nearly always there is one. DRIVER: there is none. */
function contentsOf(result: unknown): Uint8Array {
  const { contents } = result as { contents?: unknown };
  if (!Array.isArray(contents)) throw driverError("Read", "DRIVER", "the server gave no contents");
  const parts = contents.map((item: { text?: unknown; blob?: unknown } | null) =>
    typeof item?.blob === "string" ? Buffer.from(item.blob, "base64") : Buffer.from(String(item?.text ?? "")),
  );
  return Buffer.concat(parts.flatMap((part, i) => (i === 0 ? [part] : [Buffer.from("\n"), part])));
}
