/** OS children that do what the test scripts, for tests of how the kernel handles them. */
import { Fault } from "../../abi/errors.ts";
import type { ExecChild, ExecSpec, HostExec } from "../ports/host.ts";

type End = Awaited<ExecChild["exited"]>;

export class FakePrograms implements HostExec {
  readonly ownership = "group";
  readonly started: FakeProgram[] = [];
  /** Programs that find() does not find. */
  readonly missing = new Set<string>();
  /** Programs that ignore TERM. */
  readonly stubborn = new Set<string>();

  get live(): number {
    return this.started.filter(({ isOver }) => !isOver).length;
  }

  find({ argv }: Pick<ExecSpec, "argv">): string {
    const [name = ""] = argv;
    if (!this.missing.has(name)) return `/bin/${name}`;
    throw new Fault({ code: "NOT_FOUND", message: `program not found: ${name}` });
  }

  run(spec: ExecSpec, signal: AbortSignal): ExecChild {
    const program = new FakeProgram(spec, this.stubborn.has(spec.argv[0] ?? ""));
    this.started.push(program);
    const term = (): void => program.hear("SIGTERM");
    const kill = (): void => program.hear("SIGKILL");
    signal.addEventListener("abort", term, { once: true });
    spec.killed?.addEventListener("abort", kill, { once: true });
    if (signal.aborted) term();
    if (spec.killed?.aborted === true) kill();
    return program;
  }

  async close(): Promise<void> {
    for (const program of this.started) program.hear("SIGKILL");
  }

  /** The program that was started last. */
  get last(): FakeProgram {
    const last = this.started.at(-1);
    if (last === undefined) throw new Error("no program was started");
    return last;
  }
}

export class FakeProgram implements ExecChild {
  readonly osPid = 1;
  readonly spec: ExecSpec;
  /** The signals it received, in order. */
  readonly signals: string[] = [];
  input = "";
  isInputEnded = false;
  /** It no longer reads: writes to it fail. */
  isDeaf = false;
  isOver = false;
  readonly #isStubborn: boolean;
  readonly #exit = Promise.withResolvers<End>();

  constructor(spec: ExecSpec, isStubborn: boolean) {
    this.spec = spec;
    this.#isStubborn = isStubborn;
  }

  get exited(): Promise<End> {
    return this.#exit.promise;
  }

  /** Resolves when the program may continue. */
  async print(text: string, stream: "stdout" | "stderr" = "stdout"): Promise<void> {
    await this.spec.onOutput(stream, Buffer.from(text));
  }

  exit(code: number): void {
    this.end({ code, signal: null });
  }

  end(end: End): void {
    this.isOver = true;
    this.#exit.resolve(end);
  }

  /** Receives a signal; ends if the signal would end it. */
  hear(signal: string): void {
    if (this.isOver) return;
    this.signals.push(signal);
    const isFatal = signal === "SIGKILL" || (signal === "SIGTERM" && !this.#isStubborn);
    if (isFatal) this.end({ code: null, signal });
  }

  async write(data: Uint8Array | string): Promise<void> {
    if (this.isOver || this.isDeaf) throw new Fault({ code: "DRIVER", message: "its input is closed" });
    this.input += typeof data === "string" ? data : Buffer.from(data).toString("utf8");
  }

  endInput(): void {
    this.isInputEnded = true;
  }

  signal(name: Parameters<ExecChild["signal"]>[0]): boolean {
    this.hear(name);
    return !this.isOver;
  }

  async kill(): Promise<void> {
    this.hear("SIGTERM");
    await this.exited;
  }
}
