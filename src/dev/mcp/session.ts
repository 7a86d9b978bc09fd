/**
 * Sends requests to a connected server: each with timeouts and documented errors. Lists are cached while they are
 * valid.
 */
import type { Client } from "@modelcontextprotocol/client";
import * as z from "zod";
import type { Clock } from "../../abi/program.ts";
import { abortable } from "../../lib/abort.ts";
import { cancelled, driverError } from "../driver-error.ts";
import { type Catalogue, catalogueOf, isDeep, type McpTool, TooDeep } from "./catalogue.ts";
import { withPatience } from "./deadline.ts";
import { faultOf, type Sent } from "./fault.ts";
import { MCP_LIMITS } from "./limits.ts";
import type { Sdk } from "./sdk.ts";

/** Longer than any timeout of ours, so that the library's timers never fire. */
const NEVER_MS = 2 ** 31 - 1;

/** The items are validated one by one, so that a wrong one does not invalidate the page. */
const anyPage = z.looseObject({
  tools: z.array(z.unknown()).optional(),
  resources: z.array(z.unknown()).optional(),
  nextCursor: z.string().nullish(),
});
const anyResult = z.looseObject({});
/** Requests without effects. */
const READS = /^(ping|tools\/list|(resources|prompts)\/(list|read|get|templates\/list))$/;

export type ListName = "tools" | "resources";

export class Session {
  readonly #sdk: Sdk;
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #lists = new Map<ListName, Promise<unknown>>();
  #toolCount = 0;

  constructor(sdk: Sdk, client: Client, clock: Clock) {
    this.#sdk = sdk;
    this.#client = client;
    this.#clock = clock;
  }

  /** The number of tools in the last list received. */
  get toolCount(): number {
    return this.#toolCount;
  }

  /** The server reported a change of a list: the next use requests it again. */
  forget(list: ListName): void {
    this.#lists.delete(list);
  }

  async tools(signal: AbortSignal): Promise<Catalogue> {
    return this.#list("tools", signal, async (own) => {
      const catalogue = catalogueOf(await this.#pages("tools", MCP_LIMITS.tools + 1, own));
      this.#toolCount = catalogue.tools.length;
      return catalogue;
    });
  }

  async resources(signal: AbortSignal): Promise<readonly unknown[]> {
    return this.#list("resources", signal, async (own) => {
      const items = await this.#pages("resources", MCP_LIMITS.resources, own);
      return items.filter((item) => !(item instanceof TooDeep));
    });
  }

  /** Returns the server's result unchanged. `tool`: the definition that the call was checked against. */
  async callTool(tool: McpTool, args: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    const { name } = tool;
    const sent: Sent = { what: name, op: "Write", isCall: true };
    return this.#send(sent, signal, (options) =>
      this.#client.callTool({ name, arguments: args }, { ...options, toolDefinition: tool as never }),
    );
  }

  /** Sends any other request. */
  async request(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    const isCall = !READS.test(method);
    const sent: Sent = { what: method, op: isCall ? "Write" : "Read", isCall };
    const message = { method, ...(params !== undefined && { params: params as Record<string, unknown> }) };
    return this.#send(sent, signal, (options) => this.#client.request(message, anyResult, options));
  }

  /** All waiters share one request, which ends by its own timeout; its answer is kept until the list changes. */
  async #list<T>(name: ListName, signal: AbortSignal, fetch: (own: AbortSignal) => Promise<T>): Promise<T> {
    let fetching = this.#lists.get(name) as Promise<T> | undefined;
    if (fetching === undefined) {
      const started = fetch(new AbortController().signal);
      started.catch(() => {
        if (this.#lists.get(name) === started) this.#lists.delete(name);
      });
      this.#lists.set(name, started);
      fetching = started;
    }
    try {
      return await abortable(fetching, signal);
    } catch (error) {
      throw signal.aborted ? cancelled("Read") : error;
    }
  }

  async #pages(list: ListName, max: number, signal: AbortSignal): Promise<unknown[]> {
    if (this.#client.getServerCapabilities()?.[list] === undefined) return [];
    const items: unknown[] = [];
    let cursor: string | undefined;
    let bytes = 0;
    for (let count = 0; count < MCP_LIMITS.pages && items.length < max; count++) {
      const request = { method: `${list}/list`, params: cursor === undefined ? {} : { cursor } };
      const sent: Sent = { what: request.method, op: "Read", isCall: false };
      const found = await this.#send(sent, signal, (options) =>
        this.#client.request(request, anyPage, options),
      );
      const page = (found[list] ?? []).map((item) => (isDeep(item) ? new TooDeep(item) : item));
      bytes += JSON.stringify(page).length;
      items.push(...page.slice(0, max - items.length));
      const next = found.nextCursor ?? "";
      if (next === "" || next === cursor || bytes > MCP_LIMITS.listBytes) break;
      cursor = next;
    }
    return items;
  }

  /**
   * TIMEOUT: no sign of life for too long; DRIVER or UNAVAILABLE: the server or the connection failed; CANCELLED:
   * `signal` fired.
   */
  async #send<T>(
    sent: Sent,
    signal: AbortSignal,
    act: (options: { signal: AbortSignal; timeout: number; onprogress: () => void }) => Promise<T>,
  ): Promise<T> {
    const late = (words: string) => {
      const unknown = sent.isCall ? ": its outcome is unknown" : "";
      return driverError(sent.op, "TIMEOUT", `${sent.what}: ${words}${unknown}`);
    };
    const { quietMs, totalMs } = MCP_LIMITS;
    const patience = { clock: this.#clock, quietMs, totalMs, late };
    try {
      return await withPatience(patience, signal, async (linked, alive) => {
        linked.throwIfAborted();
        return act({ signal: linked, timeout: NEVER_MS, onprogress: alive });
      });
    } catch (error) {
      if (signal.aborted) throw givenUp(sent);
      throw faultOf(this.#sdk, error, sent);
    }
  }
}

function givenUp({ what, op, isCall }: Sent): Error {
  return isCall ? driverError(op, "CANCELLED", `${what}: given up: its outcome is unknown`) : cancelled(op);
}
