/**
 * /mnt/mcp/<server>: the tools and resources of a server as files (kernel reference, MCP mounts).
 *
 *     /                      ["tools","resources"]
 *     /tools                 the answer of tools/list
 *     /tools/<name>          write JSON arguments (tools/call), then read the result
 *     /resources             the answer of resources/list
 *     /resources/<uri>       the contents; the uri is percent-encoded
 */

import type { FileStat, OpenFile } from "../../abi/device.ts";
import { type Caller, type Device, O_RDONLY, type OpenFlag, type ToolStat } from "../../abi/device.ts";
import { linkSignals } from "../../lib/abort.ts";
import { callNames } from "../../lib/mcp-names.ts";
import { nearNames } from "../../lib/text/near-names.ts";
import { jsonBytes } from "../answer.ts";
import { driverError, type FileOp, throwIfAborted, unreadError } from "../driver-error.ts";
import { snapshotFile } from "../snapshot.ts";
import type { Catalogue, McpTool } from "./catalogue.ts";
import { MCP_LIMITS } from "./limits.ts";
import type { PooledTransport } from "./pooled-transport.ts";
import { ToolFile } from "./tool-file.ts";

const ROOT = ["tools", "resources"];

type Place =
  | { readonly kind: "root" | "tools" | "resources" }
  | { readonly kind: "tool"; readonly name: string }
  | { readonly kind: "resource"; readonly uri: string };

export function mcpDevice(server: string, transport: PooledTransport): Device {
  return new McpDevice(server, transport);
}

class McpDevice implements Device {
  readonly name: string;
  readonly traffic = "message";
  readonly #transport: PooledTransport;
  /** The call names of the tools, computed once per list. */
  #named: { readonly of: Catalogue; readonly names: ReadonlyMap<string, string> } | null = null;

  constructor(server: string, transport: PooledTransport) {
    this.name = server;
    this.#transport = transport;
  }

  async open(subpath: string, flags: OpenFlag, caller: Caller): Promise<OpenFile> {
    const place = this.#place(subpath, "Open");
    if (place.kind === "tool") return this.#openTool(place.name, caller);
    if (flags !== O_RDONLY)
      throw driverError("Open", "PERMISSION", `read-only: ${this.name}${subpath}; only tools are written`);
    if (place.kind === "resource") {
      const stat = this.#stat(place.uri, 0);
      return new ResourceFile(this.#transport, place.uri, stat);
    }
    const content = await this.#content(place.kind, "Open", caller);
    const file = snapshotFile(content, this.#stat(place.kind, content.byteLength));
    return {
      ...file,
      read: async (length, signal) => {
        this.#transport.checkMounted("Read");
        return file.read(length, signal);
      },
    };
  }

  /** Reading a resource sends its URI to the server, so rules about the server apply. */
  openEffects(subpath: string) {
    return this.#place(subpath, "Open").kind === "resource" ? this.shownEffects(subpath) : [];
  }

  /** The effects of showing a list or a resource: its text is the server's. */
  shownEffects(subpath: string) {
    const place = this.#place(subpath, "Open");
    const uri = place.kind === "resource" ? { uri: place.uri } : {};
    return [{ kind: "mcp", server: this.name, tool: "", host: this.#transport.host, ...uri } as const];
  }

  async stat(subpath: string, caller: Caller): Promise<FileStat> {
    const place = this.#place(subpath, "Stat");
    if (place.kind === "resource") return this.#stat(place.uri, 0);
    if (place.kind !== "tool") {
      const content = await this.#content(place.kind, "Stat", caller);
      return this.#stat(place.kind, content.byteLength);
    }
    const { tool, callName } = await this.#find(place.name, "Stat", caller);
    return { ...this.#stat(tool.name, 0), tool: toolStat(tool, callName) };
  }

  #place(subpath: string, op: FileOp): Place {
    const [, list, item, ...rest] = subpath.split("/");
    if (list === undefined || list === "") return { kind: "root" };
    if (rest.length === 0 && (list === "tools" || list === "resources")) {
      if (item === undefined) return { kind: list };
      const text = decoded(item);
      if (text !== undefined)
        return list === "tools" ? { kind: "tool", name: text } : { kind: "resource", uri: text };
    }
    const here = `here are ${ROOT.join(" and ")}; a name with / in it is percent-encoded`;
    throw unreadError(op, "NOT_FOUND", `file not found: ${this.name}${subpath} (${here})`);
  }

  async #openTool(name: string, caller: Caller): Promise<OpenFile> {
    const found = await this.#find(name, "Open", caller);
    const stat = { ...this.#stat(name, 0), tool: toolStat(found.tool, found.callName) };
    return new ToolFile({ ...found, server: this.name, transport: this.#transport, stat });
  }

  async #find(name: string, op: FileOp, caller: Caller) {
    const catalogue = await this.#transport.catalogue(op, caller.signal);
    const tools = this.#seenBy(caller, catalogue);
    const tool = tools.find((each) => each.name === name);
    if (tool === undefined) throw this.#noSuchTool(name, op, tools);
    return { tool, callName: this.#callName(catalogue, name) };
  }

  #seenBy({ hides }: Caller, catalogue: Catalogue): readonly McpTool[] {
    if (hides === undefined) return catalogue.tools;
    return catalogue.tools.filter(({ name }) => !hides(this.#callName(catalogue, name)));
  }

  #callName(catalogue: Catalogue, name: string): string {
    if (this.#named?.of !== catalogue)
      this.#named = { of: catalogue, names: callNames(this.name, catalogue.tools) };
    return this.#named.names.get(name) ?? "";
  }

  #noSuchTool(name: string, op: FileOp, tools: readonly McpTool[]): Error {
    const names = tools.map((tool) => tool.name);
    const near = nearNames(name, names, 3).slice(0, 3);
    const hint =
      near.length > 0 ? `Similar: ${near.join(", ")}` : `Tools: ${names.slice(0, 20).join(", ") || "none"}`;
    return driverError(op, "NOT_FOUND", `tool not found: ${name.slice(0, 128)}. ${hint}`);
  }

  async #content(kind: "root" | "tools" | "resources", op: FileOp, caller: Caller): Promise<Uint8Array> {
    if (kind === "root") return jsonBytes(ROOT);
    if (kind === "tools")
      return jsonBytes(this.#seenBy(caller, await this.#transport.catalogue(op, caller.signal)));
    return jsonBytes(await this.#transport.resources(op, caller.signal));
  }

  #stat(name: string, size: number): FileStat {
    return {
      name: name === "root" ? this.name : name,
      size,
      isDevice: true,
      devicePath: `/mnt/mcp/${this.name}`,
    };
  }
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function toolStat(tool: McpTool, callName: string): ToolStat {
  return {
    name: callName,
    description: tool.description || (tool.title ?? ""),
    inputSchema: { type: "object", ...tool.inputSchema },
    parallel: tool.annotations?.readOnlyHint === true,
    maxResultChars: MCP_LIMITS.resultChars,
  };
}

/** A resource: requested at the first read, then read like a file. */
class ResourceFile implements OpenFile {
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

/** Joins texts and bytes, with a newline in between; there is nearly always only one item. DRIVER: no contents. */
function contentsOf(result: unknown): Uint8Array {
  const { contents } = result as { contents?: unknown };
  if (!Array.isArray(contents)) throw driverError("Read", "DRIVER", "the server gave no contents");
  const parts = contents.map((item: { text?: unknown; blob?: unknown } | null) =>
    typeof item?.blob === "string" ? Buffer.from(item.blob, "base64") : Buffer.from(String(item?.text ?? "")),
  );
  return Buffer.concat(parts.flatMap((part, i) => (i === 0 ? [part] : [Buffer.from("\n"), part])));
}
