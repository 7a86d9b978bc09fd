/** Finds what guides an agent where it works: the state of a trusted repository. */
import type { Found, Guided, Guides } from "../kernel/ports/guides.ts";
import type { Trust } from "./trust.ts";

interface GuideOptions {
  readonly trust: Pick<Trust, "viewOf">;
  /** The state of the repository of a folder, for the prompt; `owner`: whose OS processes they are. */
  readonly gitState: (cwd: string, owner: string) => Promise<string>;
}

export class GuideDesk implements Guides {
  readonly #options: GuideOptions;

  constructor(options: GuideOptions) {
    this.#options = options;
  }

  async around({ pid, cwd }: Guided): Promise<Found> {
    const { trust, gitState } = this.#options;
    // no git for a folder that is not trusted: a repository can make git start programs
    const git = trust.viewOf(cwd).isTrusted ? await gitState(cwd, `pid ${pid} git`) : "";
    return { git, instructions: [], skills: [], notices: [] };
  }
}
