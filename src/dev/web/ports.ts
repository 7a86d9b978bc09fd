/** What the device needs of the network; tests put a server on loopback in its place. */
import { lookup } from "node:dns/promises";
import { isPublicAddress } from "./address.ts";

export interface WebPorts {
  /** All addresses of a name, best first. Rejects: there is none. */
  resolve(host: string): Promise<readonly string[]>;
  /** May a connection be made there? Asked for the very address that is connected to. */
  isPublic(address: string): boolean;
}

export const hostPorts: WebPorts = {
  resolve: async (host) => (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address),
  isPublic: isPublicAddress,
};
