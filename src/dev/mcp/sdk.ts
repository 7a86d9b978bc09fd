/**
 * The client library. It takes tens of milliseconds to load and most daemons start no server, so it is loaded on
 * first use.
 */
export type Sdk = typeof import("@modelcontextprotocol/client");

let loading: Promise<Sdk> | undefined;

export function loadSdk(): Promise<Sdk> {
  loading ??= import("@modelcontextprotocol/client");
  return loading;
}
