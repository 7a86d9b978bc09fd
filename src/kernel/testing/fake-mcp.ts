/** Fake MCP servers. The command sets the behaviour; `ok`, and any unknown one, connects at once. */
import { DriverError } from "../../abi/errors.ts";
import type { McpConfig, McpState } from "../../abi/mcp.ts";
import { abortable } from "../../lib/abort.ts";
import type { McpHost, McpOwner, McpTransport } from "../ports/mcp.ts";
import { MessageDevice } from "./fake-devices.ts";

export class FakeTransport implements McpTransport {
  readonly label: string;
  readonly owner: McpOwner | null;
  readonly servicePid = null;
  readonly tools = 2;
  state: McpState = "pending";
  problem = "";
  isClosed = false;
  readonly #command: string;
  readonly #connecting = Promise.withResolvers<void>();
  readonly #onClose: () => void;

  constructor(command: string, owner: McpOwner | null, onClose: () => void) {
    this.label = `stdio: ${command}`;
    this.owner = owner;
    this.#command = command;
    this.#onClose = onClose;
    this.#connecting.promise.catch(() => {});
  }

  async connect(signal: AbortSignal): Promise<void> {
    if (this.#command === "fails") this.fail("program not found: fails");
    else if (this.#command !== "hangs") this.finish();
    await abortable(this.#connecting.promise, signal);
  }

  connectOnUse(): void {}

  /** For `hangs`: lets it connect after all. */
  finish(): void {
    this.state = "connected";
    this.#connecting.resolve();
  }

  fail(message: string): void {
    this.state = "failed";
    this.problem = message;
    this.#connecting.reject(new DriverError({ op: "Open", code: "UNAVAILABLE", message }));
  }

  async call(): Promise<unknown> {
    return {};
  }

  async ping(): Promise<void> {}

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#onClose();
    if (this.#command === "sticks") throw new Error("it sticks");
  }
}

export class FakeMcp implements McpHost {
  readonly opened: FakeTransport[] = [];
  /** Closed transports, in the order in which they were closed. */
  readonly closed: string[] = [];

  /** Transports that were made and not closed. */
  get live(): number {
    return this.opened.length - this.closed.length;
  }

  transport(config: McpConfig, owner: McpOwner | null = null): McpTransport {
    const command = config.type === "stdio" ? config.command : config.url;
    if (command === "invalid")
      throw new DriverError({ op: "Open", code: "INVALID", message: "not a config: invalid" });
    const transport = new FakeTransport(command, owner, () => this.closed.push(command));
    this.opened.push(transport);
    return transport;
  }

  device(server: string): MessageDevice {
    return new MessageDevice(server);
  }

  async close(): Promise<void> {}
}
