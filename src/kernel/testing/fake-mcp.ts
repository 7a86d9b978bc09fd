/** MCP servers that are not there: one that connects at once and has nothing. */
import type { McpHost, McpTransport } from "../ports/mcp.ts";
import { MessageDevice } from "./fake-devices.ts";

export class FakeMcp implements McpHost {
  readonly opened: McpTransport[] = [];
  /** Transports that were made and not closed. */
  live = 0;

  transport(): McpTransport {
    this.live++;
    let isOpen = true;
    const transport: McpTransport = {
      label: "fake",
      state: "connected",
      servicePid: null,
      problem: "",
      tools: 0,
      connect: async () => {},
      call: async () => ({}),
      ping: async () => {},
      close: async () => {
        if (isOpen) this.live--;
        isOpen = false;
      },
    };
    this.opened.push(transport);
    return transport;
  }

  device(server: string) {
    return new MessageDevice(server);
  }

  async close(): Promise<void> {}
}
