import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SandboxNetwork } from "../../abi/sandbox.ts";
import { type Egress, isPublicAddress, openEgress } from "./egress.ts";

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  "a.example": ["93.184.215.14"],
  "b.example": ["93.184.215.15"],
  "home.example": ["127.0.0.1"],
  "meta.example": ["93.184.215.14", "169.254.169.254"],
  "mapped.example": ["::ffff:10.0.0.1"],
};

let dir = "";
let server: Server;
let heard: string[] = [];
let reached: string[] = [];
let asked: string[] = [];
let egress: Egress | undefined;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "crux-egress-"));
  heard = [];
  reached = [];
  asked = [];
  server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (data) => {
      heard.push(data.toString("latin1"));
      socket.write(`echo ${data.length}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

afterEach(() => {
  egress?.close();
  server.close();
  rmSync(dir, { recursive: true, force: true });
});

function open(network: Partial<SandboxNetwork>): Egress {
  egress = openEgress({
    path: join(dir, "s"),
    network: { allow: [], deny: [], ...network },
    lookup: async (host) => {
      asked.push(host);
      const found = ADDRESSES[host];
      if (found === undefined) throw new Error(`no such name: ${host}`);
      return found;
    },
    connect: (address, port) => {
      reached.push(`${address}:${port}`);
      return connect({ port: (server.address() as { port: number }).port, host: "127.0.0.1" });
    },
  });
  return egress;
}

/** What comes back until `until` is seen or the connection is over. */
function talk(path: string, words: readonly (string | Buffer)[], until: RegExp): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let said = "";
    let next = 0;
    const say = () => {
      const word = words[next++];
      if (word !== undefined) socket.write(word);
    };
    socket.on("connect", say);
    socket.on("data", (data) => {
      said += data.toString("latin1");
      if (until.test(said)) socket.destroy();
      else say();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(said));
  });
}

const ask = (to: string) => `CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n\r\n`;
const never = /^\0$/;

/** The first bytes of a TLS client. */
function hello(servername: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const sink = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", (data) => {
        socket.destroy();
        sink.close();
        resolve(data);
      });
    });
    sink.listen(0, "127.0.0.1", () => {
      const { port } = sink.address() as { port: number };
      connectTls({ port, host: "127.0.0.1", servername }).on("error", () => {});
    });
  });
}

const socks = (host: string, port: number, kind = 3) => {
  const name =
    kind === 3 ? Buffer.concat([Buffer.from([host.length]), Buffer.from(host)]) : Buffer.from([1, 1, 1, 1]);
  return [
    Buffer.from([5, 1, 0]),
    Buffer.concat([Buffer.from([5, 1, 0, kind]), name, Buffer.from([port >> 8, port & 255])]),
  ];
};

describe("openEgress", () => {
  it("connects to the allowed name, and hands on what TLS says to it", async () => {
    const { path } = open({ allow: ["a.example"] });
    const said = await talk(path, [ask("a.example:443"), await hello("a.example")], /echo/);
    expect(said).toMatch(/^HTTP\/1.1 200 [\s\S]*echo \d+$/);
    expect(reached).toEqual(["93.184.215.14:443"]);
    expect(heard.join("")).toContain("a.example");
    expect(egress?.close()).toEqual([]);
  });

  it.each([
    ["b.example:443", "another name"],
    ["a.example:80", "another port"],
    ["xa.example:443", "a name that ends so"],
    ["93.184.215.14:443", "an address"],
    ["[::1]:443", "an address of IPv6"],
    ["2130706433:443", "an address in disguise"],
    ["0x7f.1:443", "an address in hexadecimal"],
  ])("refuses %s: %s", async (to) => {
    const { path, close } = open({ allow: ["a.example"] });
    expect(await talk(path, [ask(to)], never)).toMatch(/^HTTP\/1.1 403 /);
    expect([reached, asked, close().length]).toEqual([[], [], 1]);
  });

  it.each(["home.example", "meta.example", "mapped.example", "none.example"])(
    "reaches nothing by %s, which leads to no address of the world",
    async (name) => {
      const { path } = open({ allow: [name] });
      expect(await talk(path, [ask(`${name}:443`)], never)).toMatch(/^HTTP\/1.1 403 /);
      expect(reached).toEqual([]);
    },
  );

  it("hands nothing on for another server, for none, or for what is not TLS", async () => {
    const { path, close } = open({ allow: ["a.example"] });
    for (const first of [await hello("b.example"), await hello(""), "GET / HTTP/1.1\r\n\r\n"])
      expect(await talk(path, [ask("a.example:443"), first], never)).toMatch(
        /^HTTP\/1.1 200 [^\n]*\r\n\r\n$/,
      );
    expect(heard).toEqual([]);
    expect([...close()].sort()).toEqual([
      "network: a.example:443: TLS for another server, b.example",
      "network: a.example:443: it is not TLS",
      "network: a.example:443: it names no server",
    ]);
  });

  it("speaks SOCKS5 with names, and with names alone", async () => {
    const { path } = open({ allow: ["*.example:22"], deny: ["b.example"] });
    const said = await talk(path, [...socks("a.example", 22), "SSH-2.0-x\r\n"], /echo/);
    expect(Buffer.from(said, "latin1").subarray(0, 4)).toEqual(Buffer.from([5, 0, 5, 0]));
    expect(heard).toEqual(["SSH-2.0-x\r\n"]);
    for (const [words, code] of [
      [socks("b.example", 22), 2],
      [socks("", 22, 1), 8],
    ] as const)
      expect(Buffer.from(await talk(path, words, never), "latin1")[3]).toBe(code);
    expect(reached).toEqual(["93.184.215.14:22"]);
  });

  it("passes no plain http, and says so", async () => {
    const { path } = open({ allow: ["a.example"] });
    expect(await talk(path, ["GET http://a.example/ HTTP/1.1\r\n\r\n"], never)).toMatch(
      /^HTTP\/1.1 405 [\s\S]*https/,
    );
  });

  it("is gone with its program, and its connections with it", async () => {
    const { path, close } = open({ allow: ["a.example:22"] });
    const socket: Socket = connect(path);
    socket.on("error", () => {});
    const over = new Promise((resolve) => socket.once("close", resolve));
    socket.write(ask("a.example:22"));
    await new Promise((resolve) => socket.once("data", resolve));
    close();
    await over;
    await new Promise((resolve) => connect(path).once("error", resolve));
  });
});

it.each("1.1.1.1 93.184.215.14 2606:4700:4700::1111 2a00:1450:4001::1".split(" "))(
  "isPublicAddress() holds for %s",
  (address) => expect(isPublicAddress(address)).toBe(true),
);

it.each(
  `127.0.0.1 0.0.0.0 10.1.2.3 100.64.0.1 169.254.169.254 172.31.0.1 192.168.1.1 224.0.0.1 255.255.255.255 ::1 :: ::ffff:1.1.1.1
   64:ff9b::a00:1 fe80::1 fd00:ec2::254 fc00::1 ff02::1 2002:7f00:1:: 2001:db8::1 name 1.1 2130706433`.split(
    /\s+/,
  ),
)("isPublicAddress() does not hold for %s", (address) => expect(isPublicAddress(address)).toBe(false));
