/**
 * The only network access of a sandbox: a proxy on a Unix socket of its own, which connects to the allowed hosts and
 * no others. A name is resolved here, once, and the connection goes to the address that was checked; a name that
 * resolves to this machine or its network is refused. With TLS, the server name in the ClientHello must be the
 * requested host. The proxy lives as long as its program, and reports at the end what it refused.
 */
import { lookup as resolve } from "node:dns/promises";
import { rmSync } from "node:fs";
import { BlockList, connect, createServer, isIP, type Socket } from "node:net";
import { messageOf } from "../../abi/errors.ts";
import type { SandboxNetwork } from "../../abi/sandbox.ts";
import { ByteReader } from "./byte-reader.ts";
import { maxHelloBytes, readClientHello } from "./client-hello.ts";
import { type ProxyRequest, readRequest } from "./proxy-request.ts";

export interface EgressDeps {
  /** Returns all addresses of a name. */
  lookup(host: string): Promise<readonly string[]>;
  connect(address: string, port: number): Socket;
}

export interface Egress {
  readonly path: string;
  /** Ends every connection. Returns what was refused, in words, each reason once. */
  close(): readonly string[];
}

/** Bound on concurrent connections; further ones wait in the socket's queue or are rejected. */
const maxConnections = 256;
const maxTold = 20;
/** Timeout for a client's request and the first bytes after it. */
const headMs = 30_000;
const connectMs = 30_000;
const TLS_PORT = 443;
const TLS_FIRST_BYTE = 0x16;

const hostDeps: EgressDeps = {
  lookup: async (host) => (await resolve(host, { all: true })).map(({ address }) => address),
  connect: (address, port) => connect({ host: address, port, allowHalfOpen: true }),
};

interface EgressOptions extends Partial<EgressDeps> {
  /** The path of the socket, at most 107 bytes. */
  readonly path: string;
  readonly network: SandboxNetwork;
}

export function openEgress({ path, network, ...deps }: EgressOptions): Egress {
  const proxy = new ProxyServer({ ...hostDeps, ...deps }, network);
  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on("error", () => {});
    void proxy.serve(client);
  });
  server.maxConnections = maxConnections;
  server.on("error", () => {});
  server.listen(path);
  return {
    path,
    close: () => {
      server.close();
      rmSync(path, { force: true });
      return proxy.close();
    },
  };
}

class ProxyServer {
  readonly #deps: EgressDeps;
  readonly #network: SandboxNetwork;
  readonly #refused = new Set<string>();
  /** Open connections; all are ended with the program. */
  readonly #open = new Set<Socket>();

  constructor(deps: EgressDeps, network: SandboxNetwork) {
    this.#deps = deps;
    this.#network = network;
  }

  /** Ends all connections; returns what was refused, in words. */
  close(): readonly string[] {
    for (const socket of this.#open) socket.destroy();
    return [...this.#refused];
  }

  #track(socket: Socket): void {
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
  }

  #tell(words: string): void {
    if (this.#refused.size < maxTold) this.#refused.add(words);
  }

  /** Serves one connection until it is closed. Never rejects. */
  async serve(client: Socket): Promise<void> {
    this.#track(client);
    const late = setTimeout(() => client.destroy(), headMs + connectMs).unref();
    try {
      const reader = new ByteReader(client);
      const request = await readRequest(client, reader);
      if (request === undefined) return;
      const outer = await this.#connect(request);
      if (outer === undefined) return;
      this.#track(outer);
      endTogether(client, outer);
      endTogether(outer, client);
      request.accept();
      // the server may speak first; the client's bytes are held until the first ones are checked
      outer.pipe(client);
      if (await this.#mayGoOn(reader, request)) reader.giveBack().pipe(outer);
      else client.destroy();
    } catch {
      // the client has gone, or sent something that cannot be answered
      client.destroy();
    } finally {
      clearTimeout(late);
    }
  }

  /** undefined: refused, and the client was informed. */
  async #connect(request: ProxyRequest): Promise<Socket | undefined> {
    const { host, port } = request;
    const name = hostName(host);
    if (name === undefined) return this.#refuse(request, `${host}:${port} is an address or no name`);
    if (!mayReach(this.#network, name, port))
      return this.#refuse(request, `${name}:${port} is not in sandbox.network.allow`);
    try {
      const addresses = await this.#deps.lookup(name);
      const [first] = addresses;
      if (first === undefined || !addresses.every(isPublicAddress))
        return this.#refuse(request, `${name} leads to an address of this machine or its network`);
      return await connected(this.#deps.connect(first, port));
    } catch (error) {
      request.refuse(`${name}:${port}: ${messageOf(error)}`);
      return undefined;
    }
  }

  #refuse(request: ProxyRequest, why: string): undefined {
    this.#tell(`network: ${why}`);
    request.refuse(why);
  }

  async #mayGoOn(reader: ByteReader, { host, port }: ProxyRequest): Promise<boolean> {
    const why = await this.#judge(reader, hostName(host) ?? "", port);
    if (why !== undefined) this.#tell(`network: ${host}:${port}: ${why}`);
    return why === undefined;
  }

  /** The reason to end the connection; undefined: it may continue. */
  async #judge(reader: ByteReader, name: string, port: number): Promise<string | undefined> {
    const [first] = await reader.peek(1);
    if (first !== TLS_FIRST_BYTE) return port === TLS_PORT ? "it is not TLS" : undefined;
    for (;;) {
      const hello = readClientHello(reader.seen);
      if (hello.kind === "bad") return hello.why;
      if (hello.kind === "name")
        return hostName(hello.name) === name ? undefined : `TLS for another server, ${hello.name}`;
      if (reader.seen.length > maxHelloBytes) return "its ClientHello is too long";
      await reader.more();
    }
  }
}

/** Ends `other` after `one` has closed, but first delivers everything that `one` sent before a regular end. */
function endTogether(one: Socket, other: Socket): void {
  one.once("close", (hasFailed) => {
    if (hasFailed || !one.readableEnded || other.writableFinished) other.destroy();
    else other.once("finish", () => other.destroy());
  });
}

function connected(socket: Socket): Promise<Socket> {
  socket.on("error", () => {});
  return new Promise((resolve, reject) => {
    socket.setTimeout(connectMs, () => socket.destroy(new Error("no answer")));
    socket.once("connect", () => {
      socket.setTimeout(0);
      resolve(socket);
    });
    socket.once("error", reject);
  });
}

/**
 * IANA's special-purpose registries: this host, private, shared, link-local (including cloud metadata), test and
 * multicast addresses.
 */
const V4 = `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`;
/** Everything except global unicast, and of that the ranges that carry an IPv4 address or are not routed. */
const V6 = "::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20";

/**
 * Addresses of this machine or its network only. There is a list per family, because a BlockList would match IPv4
 * addresses with `::/3` too.
 */
const refused = { ipv4: listOf(V4, "ipv4"), ipv6: listOf(V6, "ipv6") };

function listOf(text: string, family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const block of text.split(/\s+/)) {
    const [net = "", bits] = block.split("/");
    list.addSubnet(net, Number(bits), family);
  }
  return list;
}

/** True if a name may resolve to this address. False for anything that is not an address. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  const family = version === 4 ? "ipv4" : "ipv6";
  return !refused[family].check(address, family);
}

/**
 * The name in the form used for comparison: lower case, without a trailing dot; undefined: not a name, or an address.
 */
function hostName(text: string): string | undefined {
  const name = text.toLowerCase().replace(/\.$/, "");
  if (name.length > 253 || isIP(name) !== 0) return undefined;
  const labels = name.split(".");
  // many programs read a name that ends in a number as an address: 2130706433, 0x7f.1
  if (/^(?:\d+|0x[\da-f]*)$/.test(labels.at(-1) ?? "")) return undefined;
  return labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label)) ? name : undefined;
}

/**
 * Rules are `h` or `*.h` (names below h, not h itself), optionally with `:port`. An allow rule without a port means
 * port 443, a deny rule without a port means all ports.
 */
function mayReach({ allow, deny }: SandboxNetwork, host: string, port: number): boolean {
  const withPort = (rule: string) => (rule.includes(":") ? rule : `${rule}:${TLS_PORT}`);
  return (
    allow.some((rule) => matches(withPort(rule), host, port)) &&
    !deny.some((rule) => matches(rule, host, port))
  );
}

function matches(rule: string, host: string, port: number): boolean {
  const at = rule.lastIndexOf(":");
  if (at >= 0 && Number(rule.slice(at + 1)) !== port) return false;
  const pattern = (at < 0 ? rule : rule.slice(0, at)).toLowerCase().replace(/\.$/, "");
  if (!pattern.startsWith("*.")) return pattern === host;
  return host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1;
}
