/** Requests to a connected server: each with a deadline and errors in our words, its lists kept as long as they hold. */
import type { Client } from "@modelcontextprotocol/client";
import * as z from "zod";
import type { Clock } from "../../abi/program.ts";
import { abortable } from "../../lib/abort.ts";
import { cancelled, driverError } from "../driver-error.ts";
import { type Catalogue, catalogueOf, type McpTool } from "./catalogue.ts";
import { withPatience } from "./deadline.ts";
import { faultOf, type Sent } from "./fault.ts";
import { MCP_LIMITS } from "./limits.ts";
import type { Sdk } from "./sdk.ts";

/** Longer than any deadline of ours: the library's own timers do not decide. */
const NEVER_MS = 2 ** 31 - 1;

/** Its items are looked at one by one: one that is wrong does not spoil the rest. */
const anyPage = z.looseObject({
  tools: z.array(z.unknown()).optional(),
  resources: z.array(z.unknown()).optional(),
  nextCursor: z.string().nullish(),
});
const anyResult = z.looseObject({});
/** Requests that change nothing. */
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

  /** Of the last list that came. */
  get toolCount(): number {
    return this.#toolCount;
  }

  /** The server says that a list has changed: the next who wants it asks again. */
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
    return this.#list("resources", signal, (own) => this.#pages("resources", MCP_LIMITS.resources, own));
  }

  /** A result as the server gave it. `tool`: what the call was checked against. */
  async callTool(tool: McpTool, args: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    const { name } = tool;
    const sent: Sent = { what: name, op: "Write", isCall: true };
    return this.#send(sent, signal, (options) =>
      this.#client.callTool({ name, arguments: args }, { ...options, toolDefinition: tool as never }),
    );
  }

  /** Any other request. */
  async request(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    const isCall = !READS.test(method);
    const sent: Sent = { what: method, op: isCall ? "Write" : "Read", isCall };
    const message = { method, ...(params !== undefined && { params: params as Record<string, unknown> }) };
    return this.#send(sent, signal, (options) => this.#client.request(message, anyResult, options));
  }

  /** One request for all who wait, ended by its deadline; its answer is kept until it fails or the list changes. */
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
      const page = found[list] ?? [];
      bytes += JSON.stringify(page).length;
      items.push(...page.slice(0, max - items.length));
      const next = found.nextCursor ?? "";
      if (next === "" || next === cursor || bytes > MCP_LIMITS.listBytes) break;
      cursor = next;
    }
    return items;
  }

  /** TIMEOUT after so long without a sign of life, DRIVER or UNAVAILABLE for what the server or the way to it did. */
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
