/**
 * Calls a tool of an MCP server. Its result becomes text for the model; other content is stored under /var/out and
 * named.
 */
import { O_WRONLY } from "../../abi/device.ts";
import { codeOf } from "../../abi/errors.ts";
import type { Fd } from "../../abi/ids.ts";
import type { Sys } from "../../abi/sys.ts";
import { type CallResult, callFile, failure } from "./tool-call.ts";

const READ_BYTES = 1_048_576;
/** The longest result that enters the context whole; of a longer one only the start, and the whole is stored. */
const MAX_CHARS = 100_000;
const HEAD_CHARS = 8_000;

const EXTENSIONS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
  "audio/wav": "wav",
  "audio/mpeg": "mp3",
  "application/pdf": "pdf",
  "application/json": "json",
  "text/plain": "txt",
};

/** The name of a tool as models call it, and the path of its file. */
interface MountedFile {
  readonly name: string;
  readonly path: string;
}

/** Never rejects. */
export function callMounted(sys: Sys, { name, path }: MountedFile, input: object): Promise<CallResult> {
  return callFile(sys, path, async (fd) => {
    await sys.write(fd, new TextEncoder().encode(JSON.stringify(input)), sys.ending);
    const result = parseResult(await readAll(sys, fd));
    if (result === undefined) return failure("DRIVER", `${name} gave no result`);
    return new Rendering(sys, fd).result(result);
  });
}

/** The result as the server sent it. */
interface ServerResult {
  readonly content: readonly Part[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

interface Part {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly data?: unknown;
  readonly mimeType?: unknown;
  readonly uri?: unknown;
  readonly name?: unknown;
  readonly resource?: {
    readonly uri?: unknown;
    readonly text?: unknown;
    readonly blob?: unknown;
    readonly mimeType?: unknown;
  };
}

async function readAll(sys: Sys, fd: Fd): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  for (;;) {
    const bytes = await sys.read(fd, READ_BYTES, sys.ending);
    parts.push(decoder.decode(bytes, { stream: true }));
    if (bytes.byteLength < READ_BYTES) return parts.join("") + decoder.decode();
  }
}

function parseResult(text: string): ServerResult | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    const { content, structuredContent, isError } = value as Record<string, unknown>;
    const parts = Array.isArray(content)
      ? content.filter((part) => typeof part === "object" && part !== null)
      : [];
    return { content: parts, structuredContent, isError: isError === true };
  } catch {
    return undefined;
  }
}

/** Renders one result; the files it stores are named after the time and the fd of the call. */
class Rendering {
  readonly #sys: Sys;
  readonly #base: string;
  #kept = 0;

  constructor(sys: Sys, fd: Fd) {
    this.#sys = sys;
    this.#base = `/var/out/mcp-${sys.now().toString(36)}-${fd}`;
  }

  async result({ content, structuredContent, isError }: ServerResult): Promise<CallResult> {
    const texts: string[] = [];
    for (const part of content) texts.push(await this.#part(part));
    // a server may send only structured data, and no content
    if (texts.length === 0 && structuredContent !== undefined) texts.push(JSON.stringify(structuredContent));
    const text = await this.#bounded(texts.join("\n"));
    const nothing = isError === true ? "the tool failed without a word" : "(no output)";
    return { content: text === "" ? nothing : text, isError: isError === true };
  }

  #part(part: Part): Promise<string> | string {
    switch (part.type) {
      case "text":
        return String(part.text ?? "");
      case "image":
      case "audio":
        return this.#blob(part.type, part.data, part.mimeType);
      case "resource_link":
        return `[resource ${String(part.uri)}${typeof part.name === "string" ? ` (${part.name})` : ""}]`;
      case "resource":
        return this.#resource(part.resource ?? {});
      default:
        return `[content of a kind that is not known: ${JSON.stringify(part).slice(0, 500)}]`;
    }
  }

  #resource({ uri, text, blob, mimeType }: NonNullable<Part["resource"]>): Promise<string> | string {
    if (typeof text === "string") return `[resource ${String(uri)}]\n${text}`;
    return this.#blob(`resource ${String(uri)}`, blob, mimeType);
  }

  async #blob(what: string, data: unknown, mimeType: unknown): Promise<string> {
    if (typeof data !== "string") return `[${what} without data]`;
    const type = typeof mimeType === "string" ? mimeType : "application/octet-stream";
    const bytes = Buffer.from(data, "base64");
    const path = await this.#keep(bytes, EXTENSIONS[type] ?? "bin");
    const where = path === "" ? "it could not be kept" : path;
    return `[${what}, ${type}, ${bytes.byteLength} bytes: ${where}]`;
  }

  async #bounded(text: string): Promise<string> {
    if (text.length <= MAX_CHARS) return text;
    const path = await this.#keep(new TextEncoder().encode(text), "txt");
    const way = path === "" ? "The rest was not kept" : `All of it: view ${path}, or grep it`;
    const head = text.slice(0, HEAD_CHARS).toWellFormed();
    return `${head}\n[truncated: ${head.length} of ${text.length} characters. ${way}]`;
  }

  /** Returns the path of the stored file, or "" when it could not be stored; the text then says so. */
  async #keep(bytes: Uint8Array, extension: string): Promise<string> {
    const sys = this.#sys;
    const path = `${this.#base}-${++this.#kept}.${extension}`;
    try {
      const fd = await sys.open(path, O_WRONLY, sys.ending);
      await sys.write(fd, bytes, sys.ending);
      await sys.close(fd);
      return path;
    } catch (error) {
      if (codeOf(error) === "CANCELLED") throw error;
      return "";
    }
  }
}
