/**
 * The one way out of a sandbox: a proxy on a Unix socket of its own, which connects to the hosts that are allowed and no other.
 * Names are resolved here, once, and the connection goes to the address that was looked at; a name that leads to this machine or
 * its network leads nowhere. On TLS the server that is named inside must be the one that was asked for. It lives as long as its
 * program, and says in the end what it refused.
 */
import { lookup as resolve } from "node:dns/promises";
import { rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { messageOf } from "../../abi/errors.ts";
import type { SandboxNetwork } from "../../abi/sandbox.ts";
import { isPublicAddress } from "./address.ts";
import { ByteReader } from "./byte-reader.ts";
import { maxHelloBytes, readClientHello } from "./client-hello.ts";
import { hostName, mayReach } from "./host-rule.ts";
import { type ProxyRequest, readRequest } from "./proxy-request.ts";

export interface EgressDeps {
  /** All addresses of a name. */
  lookup(host: string): Promise<readonly string[]>;
  connect(address: string, port: number): Socket;
}

export interface Egress {
  readonly path: string;
  /** Ends every connection. What was refused, in words, each once. */
  close(): readonly string[];
}

/** At once; further ones wait in the socket's queue or are turned away. */
const maxConnections = 256;
const maxTold = 20;
/** For the request of a client, and its first bytes. */
const headMs = 30_000;
const connectMs = 30_000;
const TLS_PORT = 443;
const TLS_FIRST_BYTE = 0x16;

const hostDeps: EgressDeps = {
  lookup: async (host) => (await resolve(host, { all: true })).map(({ address }) => address),
  connect: (address, port) => connect({ host: address, port, allowHalfOpen: true }),
};

interface EgressOptions extends Partial<EgressDeps> {
  /** At most 107 bytes. */
  readonly path: string;
  readonly network: SandboxNetwork;
}

export function openEgress({ path, network, ...deps }: EgressOptions): Egress {
  const refused = new Set<string>();
  const open = new Set<Socket>();
  const track = (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  };
  const tell = (words: string) => {
    if (refused.size < maxTold) refused.add(words);
  };
  const proxy = new ProxyServer({ ...hostDeps, ...deps }, network, tell, track);
  const server = createServer({ allowHalfOpen: true }, (client) => {
    track(client);
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
      for (const socket of open) socket.destroy();
      rmSync(path, { force: true });
      return [...refused];
    },
  };
}

class ProxyServer {
  readonly #deps: EgressDeps;
  readonly #network: SandboxNetwork;
  readonly #tell: (words: string) => void;
  /** Whose end is that of the program too. */
  readonly #track: (socket: Socket) => void;

  constructor(
    deps: EgressDeps,
    network: SandboxNetwork,
    tell: (words: string) => void,
    track: (socket: Socket) => void,
  ) {
    this.#deps = deps;
    this.#track = track;
    this.#network = network;
    this.#tell = tell;
  }

  /** Never rejects; the connection is over in the end. */
  async serve(client: Socket): Promise<void> {
    const late = setTimeout(() => client.destroy(), headMs + connectMs).unref();
    try {
      const reader = new ByteReader(client);
      const request = await readRequest(client, reader);
      if (request === undefined) return;
      const outer = await this.#open(request);
      if (outer === undefined) return;
      this.#track(outer);
      endTogether(client, outer);
      endTogether(outer, client);
      request.accept();
      await this.#join(client, reader, outer, request);
    } catch {
      // whoever asked is gone, or asked for nothing that can be answered
      client.destroy();
    } finally {
      clearTimeout(late);
    }
  }

  /** undefined: refused, and told so. */
  async #open(request: ProxyRequest): Promise<Socket | undefined> {
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

  /** The server may speak first; the client's words wait until its first ones are judged. */
  async #join(
    client: Socket,
    reader: ByteReader,
    outer: Socket,
    { host, port }: ProxyRequest,
  ): Promise<void> {
    outer.pipe(client);
    const why = await this.#judge(reader, hostName(host) ?? "", port);
    if (why !== undefined) {
      this.#tell(`network: ${host}:${port}: ${why}`);
      client.destroy();
      return;
    }
    reader.giveBack().pipe(outer);
  }

  /** Why it may not go on; undefined: it may. */
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

/** What one has said to its end still reaches the other, also when it is closed by then. */
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
