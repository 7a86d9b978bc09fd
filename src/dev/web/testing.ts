/** A web of a few hosts for tests, all served by one server on loopback. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { WebPorts } from "./ports.ts";

export type Site = (request: IncomingMessage, response: ServerResponse) => void;

export interface TestWeb extends AsyncDisposable {
  readonly port: number;
  /** Host and path of each request, in order. */
  readonly asked: readonly string[];
  readonly ports: WebPorts;
  /** As if the settings named these hosts. */
  isPrivate(hostAndPort: string): boolean;
  url(host: string, path?: string): string;
}

/** `names`: hosts and their addresses, returned in turn, the last one repeatedly. Loopback counts as public here. */
export async function testWeb(
  site: Site,
  names: Readonly<Record<string, readonly string[]>> = {},
): Promise<TestWeb> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host?.split(":")[0]}${request.url}`);
    site(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const turns = new Map<string, number>();
  return {
    port,
    asked,
    ports: {
      resolve: async (host) => {
        const answers = names[host] ?? ["127.0.0.1"];
        const turn = turns.get(host) ?? 0;
        turns.set(host, turn + 1);
        return [answers[Math.min(turn, answers.length - 1)] as string];
      },
      isPublic: (address) => address === "127.0.0.1",
    },
    isPrivate: (hostAndPort) => hostAndPort.endsWith(`.example:${port}`),
    url: (host, path = "/") => `http://${host}:${port}${path}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
