/**
 * One client of the binary wire. Requests run side by side and are answered as they are ready. A fault of the framing
 * ends the connection, one within a frame only that frame. Nothing a client sends may end the daemon.
 */
import type { Socket } from "node:net";
import { Fault } from "../../../abi/errors.ts";
import { FRAME, IPC, type IpcEvent, type IpcResponse, PACKET } from "../../../abi/ipc.ts";
import type { MethodName } from "../../../abi/methods/methods.ts";
import type { WireStreamLine } from "../../../abi/wire.ts";
import { FrameDecoder, type Framed } from "../../codec/frame.ts";
import { packFrame } from "../../codec/msgpack.ts";
import { PackError, unpack } from "../../codec/unpack.ts";
import type { Desk, DeskOptions } from "../desk.ts";
import type { MethodAnswer } from "../handler.ts";
import { invalid } from "../request.ts";
import { type Envelope, failed, faultOf, parseEnvelope, RequestIds } from "./envelope.ts";
import { FrameWriter } from "./frame-writer.ts";
import { callMethod } from "./methods.ts";
import { FrameSession } from "./session.ts";

interface Around {
  readonly desk: Desk;
  /** Fires when nothing can be sent any more. */
  readonly gone: AbortSignal;
  /** The connection is not admitted: its first frame is answered with this. */
  readonly refusal: Fault | undefined;
}

type Request = Extract<Envelope, { kind: "request" }>;

interface Running {
  readonly requestId: string;
  readonly open: ReturnType<FrameSession["begin"]>;
  readonly answer: ReturnType<typeof callMethod>;
}

export class FrameConnection {
  readonly #socket: Socket;
  readonly #options: DeskOptions;
  readonly #desk: Desk;
  readonly #gone: AbortSignal;
  readonly #refusal: Fault | undefined;
  readonly #decoder = new FrameDecoder();
  readonly #writer: FrameWriter;
  readonly #session: FrameSession;
  readonly #over = Promise.withResolvers<void>();
  /** What has arrived and is not looked at yet. */
  #framed: Framed[] = [];
  /** How many of these were looked at. */
  #looked = 0;
  readonly #ids = new RequestIds();
  readonly #look = (): void => this.#acceptAll();
  #isYielding = false;
  #lastByteAt = 0;
  #isEnding = false;

  constructor(socket: Socket, options: DeskOptions, { desk, gone, refusal }: Around) {
    this.#socket = socket;
    this.#options = options;
    this.#desk = desk;
    this.#gone = gone;
    this.#refusal = refusal;
    this.#writer = new FrameWriter(socket, options.clock);
    if (options.program !== undefined) desk.become({ kind: "process", client: options.program });
    this.#session = new FrameSession(desk, () => options.look(), this.#writer);
  }

  /** Resolves when nothing more is served; what is unsent is still to be sent. Never rejects. */
  async serve(first: Buffer): Promise<void> {
    const socket = this.#socket;
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.once("end", () => this.finish());
    socket.once("close", () => this.#over.resolve());
    socket.on("drain", () => this.#readOn());
    this.#take(first);
    socket.resume();
    this.#readOn();
    if (socket.readableEnded) this.finish();
    await this.#over.promise;
    this.#session.close();
  }

  /** How long an unfinished frame has received no byte, in ms; 0 if there is none or nothing is read. */
  unfinishedMs(now: number): number {
    return this.#decoder.pending === 0 || this.#socket.isPaused() ? 0 : now - this.#lastByteAt;
  }

  stalledMs(now: number): number {
    return this.#writer.stalledMs(now);
  }

  /** Reads no further requests; those in progress still get their answers. */
  finish(): void {
    this.#isEnding = true;
    this.#writer.flush();
    this.#session.settle();
    if (this.#session.open === 0) this.#over.resolve();
  }

  #readOn(): void {
    if (this.#writer.isFull || this.#isYielding) this.#socket.pause();
    else if (this.#socket.isPaused()) {
      this.#lastByteAt = this.#options.clock.mono();
      this.#socket.resume();
    }
  }

  #take(chunk: Buffer): void {
    if (this.#isEnding) return;
    this.#lastByteAt = this.#options.clock.mono();
    const framed = this.#decoder.push(chunk);
    if (this.#framed.length === 0) this.#framed = framed;
    else for (const each of framed) this.#framed.push(each);
    this.#writer.together(this.#look);
    if (this.#writer.isFull) this.#socket.pause();
  }

  /** More requests than may be open wait for a turn of the event loop: most are answered by then. */
  #acceptAll(): void {
    if (this.#isYielding) return;
    for (let framed = this.#next(); framed !== undefined; framed = this.#next()) {
      this.#accept(framed);
      if (this.#session.open < IPC.openRequests || this.#framed.length === 0) continue;
      this.#isYielding = true;
      this.#socket.pause();
      setImmediate(() => {
        this.#isYielding = false;
        const framed = this.#next();
        if (framed !== undefined) this.#accept(framed);
        this.#acceptAll();
        this.#readOn();
      });
      return;
    }
  }

  #next(): Framed | undefined {
    const next = this.#framed[this.#looked++];
    if (this.#looked < this.#framed.length) return next;
    this.#framed = [];
    this.#looked = 0;
    return next;
  }

  #accept(framed: Framed): void {
    if (this.#refusal !== undefined) {
      if (!this.#isEnding) this.#refuse(this.#refusal, idIn(framed));
      return;
    }
    switch (framed.kind) {
      case "frame":
        if (framed.type === PACKET.request) this.#request(framed.payload);
        else if (framed.type === PACKET.chunk) this.#feed(framed.payload);
        else {
          this.#desk.logBad("a frame that only the daemon sends");
          this.#end();
        }
        return;
      case "broken":
        this.#desk.logBad("not a frame of this protocol");
        this.#end();
        return;
      case "version":
        this.#refuse(
          new Fault({
            code: "UNAVAILABLE",
            message: `unsupported protocol version ${framed.version}; supported: ${FRAME.version}`,
            details: { supported: [FRAME.version] },
          }),
        );
        return;
      case "too_large": {
        const why = `frame too large: ${framed.bytes} bytes, limit ${FRAME.maxPayloadBytes}`;
        this.#desk.logBad(why);
        this.#refuse(invalid(why));
      }
    }
  }

  #refuse(error: Fault, id = ""): void {
    this.#fail(id, error);
    this.#end();
  }

  /** What has come behind it is not looked at. */
  #end(): void {
    this.#framed = [];
    this.#looked = 0;
    this.#isEnding = true;
    this.#over.resolve();
  }

  #feed(payload: Buffer): void {
    try {
      this.#session.feed(unpack(payload));
    } catch (error) {
      const why = error instanceof PackError ? error.message : "not MsgPack";
      this.#fail("", invalid(`payload is not a message: ${why}`));
    }
  }

  #request(payload: Buffer): void {
    let envelope: Envelope;
    try {
      envelope = parseEnvelope(unpack(payload));
    } catch (error) {
      const why = error instanceof PackError ? error.message : "not MsgPack";
      this.#fail("", invalid(`payload is not a message: ${why}`));
      return;
    }
    if (envelope.kind === "bad") {
      this.#fail(envelope.id, envelope.error);
      return;
    }
    const { id } = envelope;
    if (this.#session.isOpen(id)) {
      this.#fail(id, new Fault({ code: "CONFLICT", message: `request ${id} is still open` }));
      return;
    }
    if (this.#session.open >= IPC.openRequests) {
      const message = `too many open requests (${IPC.openRequests})`;
      this.#fail(id, new Fault({ code: "UNAVAILABLE", message }));
      return;
    }
    this.#run(envelope);
  }

  /** What is ready at once is answered at once, without a promise. */
  #run(request: Request): void {
    const { clock } = this.#options;
    const requestId = this.#ids.next(clock.now());
    const open = this.#session.begin(request, clock);
    try {
      const answer = callMethod(request, { requestId, control: open, session: this.#session });
      if (answer instanceof Promise || answer.follow !== undefined) {
        this.#session.keep(request.id, open);
        void this.#finishRun(request, { requestId, open, answer });
        return;
      }
      this.#respond({ id: request.id, result: answer.result, meta: { requestId } });
    } catch (error) {
      this.#failRun(request, error, { requestId, open });
    }
    open.end();
  }

  /** Never rejects. */
  async #finishRun(request: Request, { requestId, open, answer }: Running): Promise<void> {
    try {
      const { result, follow, replayed } = answer instanceof Promise ? await open.until(answer) : answer;
      const meta = replayed === true ? ({ requestId, replayed } as const) : { requestId };
      this.#respond({ id: request.id, result, meta });
      if (follow !== undefined) await this.#follow(request.id, open, follow);
    } catch (error) {
      this.#failRun(request, error, { requestId, open });
    } finally {
      this.#session.end(request.id);
      open.end();
      if (this.#isEnding && this.#session.open === 0) this.#over.resolve();
    }
  }

  #failRun(request: Request, error: unknown, { requestId, open }: Omit<Running, "answer">): void {
    if (!(error instanceof Fault) && !open.isAborted)
      this.#options.log("error", `${request.method}: ${error instanceof Error ? error.stack : error}`);
    if (request.id !== "") this.#fail(request.id, error, requestId);
    if (this.#session.isRefused) this.#end();
  }

  /** The stream of a text method, as events. The request stays open until its end. */
  async #follow(
    id: string,
    open: Running["open"],
    follow: NonNullable<MethodAnswer<MethodName>["follow"]>,
  ): Promise<void> {
    let seq = 0;
    await follow(async (lines) => {
      for (const line of lines.split("\n")) {
        if (line === "" || open.isAborted) continue;
        this.#event({ ...eventOf(line), seq: ++seq, at: this.#options.clock.now(), subscription: id });
      }
      await this.#writer.room();
      return !this.#gone.aborted && !open.isAborted;
    });
  }

  #event(event: IpcEvent): void {
    this.#writer.send(packFrame(PACKET.event, event));
  }

  #fail(id: string, error: unknown, requestId?: string): void {
    const fault = faultOf(error, (text) => this.#desk.withoutSecrets(text));
    this.#respond(failed(id, fault, requestId));
  }

  #respond(response: IpcResponse): void {
    if (response.id === "" && response.error === undefined) return;
    const frame = packFrame(PACKET.response, response);
    const isTooLarge = frame.length > FRAME.headerBytes + FRAME.maxPayloadBytes;
    const message = `the result has ${frame.length} bytes, limit ${FRAME.maxPayloadBytes}`;
    if (!isTooLarge) this.#writer.send(frame);
    else this.#fail(response.id, new Fault({ code: "INTERNAL", message }), response.meta?.requestId);
  }
}

/** The id of the request in a frame; "": it has none. */
function idIn(framed: Framed): string {
  if (framed.kind !== "frame" || framed.type !== PACKET.request) return "";
  try {
    return parseEnvelope(unpack(framed.payload)).id;
  } catch {
    return "";
  }
}

/**
 * A line that follows the answer to a stream method of the text wire, as an event of the binary wire: `agent.step` and so on for
 * what a run reports; for other streams the type of the line.
 */
function eventOf(line: string): Pick<IpcEvent, "event" | "pid" | "data"> {
  const { type, payload } = JSON.parse(line) as WireStreamLine;
  const data = (payload ?? {}) as { readonly pid?: number; readonly event?: string };
  const isOfRun = type === "progress" || type === "complete" || type === "error";
  const event = isOfRun ? `agent.${data.event ?? type}` : type;
  return { event, ...(data.pid === undefined ? {} : { pid: data.pid }), data };
}
