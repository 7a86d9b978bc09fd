/** The device's access to the network; tests replace it with a server on loopback. */
import { lookup } from "node:dns/promises";
import { isPublicAddress } from "./address.ts";

export interface WebPorts {
  /** All addresses of a name, best first. Rejects if it has none. */
  resolve(host: string): Promise<readonly string[]>;
  /** Whether a connection to this address is allowed. Called for the exact address that is connected to. */
  isPublic(address: string): boolean;
}

export const hostPorts: WebPorts = {
  resolve: async (host) => (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address),
  isPublic: isPublicAddress,
};
