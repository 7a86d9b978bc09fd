/** The OS children of this daemon: their owner, their environment, and the sockets by which they reach it. */
import { join } from "node:path";
import type { BootContext } from "../daemon/boot-context.ts";
import type { Configuration } from "../daemon/configuration.ts";
import { HostProcesses } from "../dev/host/exec.ts";
import { Peers } from "../dev/host/peer/peer.ts";
import { commandEnvironment } from "../dev/shell/environment.ts";
import type { KernelPorts } from "../kernel/ports/kernel-ports.ts";
import { passesEnv } from "../permit/judge/pass-env.ts";
import type { Lease } from "../store/lease.ts";
import { ProcessSockets } from "../wire/server/process-sockets.ts";
import { Tokens } from "../wire/server/tokens.ts";
import type { OpenJournal } from "./journal.ts";
import type { KernelLink } from "./kernel-link.ts";
import { sweptSandboxes } from "./leftovers.ts";

/** The delay of `lookAhead`, so that the first client is served before it runs. */
const LOOK_AHEAD_MS = 200;

interface Program {
  readonly argv: readonly string[];
  readonly shell?: string;
  readonly certain: boolean;
}

interface HostOptions {
  readonly context: BootContext<Lease>;
  readonly store: OpenJournal;
  readonly config: Configuration;
  readonly link: KernelLink;
}

export class Host {
  readonly exec: HostProcesses;
  readonly sockets: ProcessSockets;
  readonly tokens: Tokens;
  readonly peers: Peers;
  readonly #options: HostOptions;

  constructor(options: HostOptions) {
    const { context, store } = options;
    const { paths, clock, log, uid } = context;
    const { kernelId, epoch } = store.journal;
    this.#options = options;
    const sandboxes = sweptSandboxes(context, store);
    const { stateDir } = paths;
    const pipesDir = join(stateDir, "pipes");
    this.exec = new HostProcesses({ kernelId, epoch, stateDir, pipesDir, sandboxes, clock });
    if (store.isWritable) setTimeout(() => void this.exec.lookAhead(), LOOK_AHEAD_MS).unref();
    this.sockets = new ProcessSockets(paths.socketPath, log);
    this.tokens = new Tokens(clock);
    const mark = `CRUX_OWNER=${kernelId}:`;
    this.peers = new Peers({ ownerOf: (osPid) => this.exec.ownerOf(osPid), mark, uid });
  }

  /** The socket for a process: the daemon's own for one that the user started, else one that identifies the process. */
  readonly socketOf = (uuid: string): string => {
    const { context, link } = this.#options;
    const isPersons = link.kernel.clientOf(uuid)?.isPersons === true;
    return isPersons ? context.paths.socketPath : this.sockets.open(uuid);
  };

  readonly commandEnv: KernelPorts["commandEnv"] = (owner, extra, argv) => {
    const passes = argv && this.passes({ argv, certain: true }, this.#options.context.home);
    return commandEnvironment(owner, extra, this.socketOf(owner.uuid), passes);
  };

  /** Which variables the settings pass to a program although their names look like secrets. */
  passes(program: Program, cwd: string): (name: string) => boolean {
    const { context, config } = this.#options;
    const wished = config.settings.secrets?.passEnv ?? {};
    return passesEnv(wished, { kind: "exec", cwd, ...program }, context.home);
  }
}
