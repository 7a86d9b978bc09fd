/** Finds what guides an agent where it works: the state of a trusted repository, and instruction files. */
import type { Nearby } from "../abi/surroundings.ts";
import type { Found, Guided, Guides } from "../kernel/ports/guides.ts";
import { type InstructionPlaces, instructionsAt, instructionsBelow } from "./instruction-files.ts";
import type { Trust } from "./trust.ts";

interface GuideOptions extends InstructionPlaces {
  readonly trust: Pick<Trust, "viewOf">;
  /** The state of the repository of a folder, for the prompt; `owner`: whose OS processes they are. */
  readonly gitState: (cwd: string, owner: string) => Promise<string>;
}

export class GuideDesk implements Guides {
  readonly #options: GuideOptions;

  constructor(options: GuideOptions) {
    this.#options = options;
  }

  async around({ pid, cwd, env, hasAgent }: Guided): Promise<Found> {
    const { trust, gitState } = this.#options;
    const view = trust.viewOf(cwd);
    const [git, { texts, notices }] = await Promise.all([
      // no git for a folder that is not trusted: a repository can make git start programs
      view.isTrusted ? gitState(cwd, `pid ${pid} git`) : "",
      hasAgent && !isOff(env) ? instructionsAt(this.#options, view, cwd) : { texts: [], notices: [] },
    ]);
    return { git, instructions: texts, notices };
  }

  async near({ cwd, env, hasAgent }: Guided, dirs: readonly string[]): Promise<Nearby> {
    if (!hasAgent || isOff(env)) return { instructions: [], notices: [] };
    const view = this.#options.trust.viewOf(cwd);
    const { texts, notices } = await instructionsBelow(this.#options, view, { cwd, dirs });
    return { instructions: texts, notices };
  }
}

function isOff({ CRUX_DISABLE_CLAUDE_MDS: off = "" }: Readonly<Record<string, string>>): boolean {
  return off !== "";
}
