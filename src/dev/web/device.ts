/**
 * /dev/web: a page of the web is written as a URL and read as text; /dev/web/search: a query, read as results. Only GET; where
 * it may lead, the gate and its rules say.
 */
import {
  type Act,
  type Caller,
  type Device,
  type FileStat,
  O_RDWR,
  type OpenFile,
  type WritePlan,
} from "../../abi/device.ts";
import type { Effect } from "../../abi/effects.ts";
import type { CallId } from "../../abi/ids.ts";
import { SEARCH_HOSTS } from "../../abi/web-ops.ts";
import { Answer, jsonBytes } from "../answer.ts";
import { cancelled, driverError, throwIfAborted } from "../driver-error.ts";
import { fetchPage, type WebDeps } from "./page.ts";
import { parseSearchRequest, parseWebRequest } from "./request.ts";
import { searchWeb } from "./search.ts";

const SEARCH = "/search";
const stat: FileStat = { name: "web", size: 0, isDevice: true, devicePath: "/dev/web" };

export function webDevice(deps: WebDeps): Device {
  const check = (subpath: string, op: "Open" | "Stat") => {
    if (subpath !== "" && subpath !== SEARCH)
      throw driverError(op, "NOT_FOUND", `file not found: /dev/web${subpath}`);
  };
  return {
    name: "web",
    traffic: "message",
    async open(subpath, flags, caller) {
      check(subpath, "Open");
      if (flags !== O_RDWR)
        throw driverError("Open", "INVALID", "open /dev/web for reading and writing (flags 2)");
      return new WebFile(subpath === SEARCH ? searching(deps, caller) : reading(deps, caller), caller);
    },
    async stat(subpath) {
      check(subpath, "Stat");
      return stat;
    },
  };
}

/** What a file does with a request. */
interface Work {
  effects(data: Uint8Array): readonly Effect[];
  tool: string;
  answer(data: Uint8Array, callId: CallId, signal: AbortSignal): Promise<unknown>;
}

function reading(deps: WebDeps, { uuid }: Caller): Work {
  const parse = (data: Uint8Array) => parseWebRequest(data, deps.isPrivate);
  return {
    tool: "fetch",
    effects: (data) => {
      const { url, written } = parse(data);
      return [{ kind: "network", host: url.host, port: url.port, method: "GET", url: written }];
    },
    answer: (data, callId, signal) => fetchPage(deps, { run: parse(data), uuid, callId, signal }),
  };
}

function searching(deps: WebDeps, { env }: Caller): Work {
  return {
    tool: "web_search",
    effects: (data) => [
      { kind: "network", host: SEARCH_HOSTS[parseSearchRequest(data).adapter], port: 443, method: "GET" },
    ],
    answer: (data, _callId, signal) => searchWeb(deps, parseSearchRequest(data), env, signal),
  };
}

class WebFile implements OpenFile {
  readonly #work: Work;
  readonly #caller: Caller;
  readonly #answer = new Answer("web");
  readonly #closed = new AbortController();
  #running: Promise<void> | undefined;

  constructor(work: Work, caller: Caller) {
    this.#work = work;
    this.#caller = caller;
  }

  /** Asking the same again changes nothing, but tells a server: it is recorded as an effect. */
  plan(data: Uint8Array): WritePlan {
    const { tool } = this.#work;
    return { effects: this.#work.effects(data), effectClass: "repeat", tool };
  }

  async write(data: Uint8Array, act: Act): Promise<void> {
    if (this.#running !== undefined) throw driverError("Write", "CONFLICT", "web: a request is under way");
    this.#answer.expectRequest();
    this.#running = this.#run(data, act);
    try {
      await this.#running;
    } finally {
      this.#running = undefined;
    }
  }

  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    throwIfAborted(signal, "Read");
    await this.#running?.catch(() => {});
    throwIfAborted(signal, "Read");
    return this.#answer.take(length);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#running?.catch(() => {});
    this.#answer.clear();
  }

  stat(): Promise<FileStat> {
    return Promise.resolve(stat);
  }

  async #run(data: Uint8Array, act: Act): Promise<void> {
    const signal = AbortSignal.any([act.signal, this.#closed.signal, this.#caller.signal]);
    throwIfAborted(signal, "Write");
    try {
      this.#answer.set(jsonBytes(await this.#work.answer(data, act.callId, signal)));
    } catch (error) {
      if (signal.aborted) throw cancelled("Write");
      throw error;
    }
  }
}
