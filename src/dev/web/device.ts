/**
 * /dev/web: takes a URL and returns the page as text; /dev/web/search: takes a query and returns results. It sends
 * only GET requests; the gate and its rules decide which hosts are allowed.
 */
import type { Caller, Device, FileStat } from "../../abi/device.ts";
import { SEARCH_HOSTS } from "../../abi/ops/web.ts";
import { jsonBytes } from "../answer.ts";
import { driverError } from "../driver-error.ts";
import { type Exchange, openExchange } from "../exchange-file.ts";
import { fetchPage, type WebDeps } from "./page.ts";
import { parseSearchRequest, parseWebRequest } from "./request.ts";
import { WebSearch } from "./search.ts";

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
      return openExchange(
        subpath === SEARCH ? searching(deps, caller) : reading(deps, caller),
        flags,
        caller,
      );
    },
    async stat(subpath) {
      check(subpath, "Stat");
      return stat;
    },
  };
}

function reading(deps: WebDeps, { uuid }: Caller): Exchange {
  const parse = (data: Uint8Array) => parseWebRequest(data, deps.isPrivate);
  return {
    stat,
    plan: (data) => {
      const { url, written } = parse(data);
      const network = {
        kind: "network",
        host: url.host,
        port: url.port,
        method: "GET",
        url: written,
      } as const;
      return { effects: [network], effectClass: "repeat", tool: "fetch" };
    },
    answer: async (data, { callId }, signal) =>
      jsonBytes(await fetchPage(deps, { run: parse(data), uuid, callId, signal })),
  };
}

function searching(deps: WebDeps, { env }: Caller): Exchange {
  return {
    stat,
    plan: (data) => {
      const host = SEARCH_HOSTS[parseSearchRequest(data).adapter];
      return {
        effects: [{ kind: "network", host, port: 443, method: "GET" }],
        effectClass: "repeat",
        tool: "web_search",
      };
    },
    answer: async (data, _act, signal) =>
      jsonBytes(await new WebSearch(deps, env, signal).run(parseSearchRequest(data))),
  };
}
