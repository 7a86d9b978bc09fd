/** Finds what guides an agent where it works: the state of a trusted repository, instruction files and skills. */
import type { AgentLine, AgentSeeker } from "../abi/agent.ts";
import type { Pid } from "../abi/ids.ts";
import type { SkillShelf } from "../abi/skill.ts";
import type { Nearby } from "../abi/surroundings.ts";
import type { Guidance, Guided, Guides } from "../kernel/ports/guides.ts";
import { RecentMap } from "../lib/maps/recent-map.ts";
import { type InstructionPlaces, instructionsAt, instructionsBelow } from "./instruction-files.ts";
import type { FoundMemory, MemoryDesk } from "./memory/memory-desk.ts";
import type { SkillDesk } from "./skills/skill-desk.ts";
import type { Trust } from "./trust/trust.ts";

interface GuideOptions extends InstructionPlaces {
  readonly trust: Pick<Trust, "viewOf">;
  /** The state of the repository of a folder, for the prompt; `owner`: whose OS processes they are. */
  readonly gitState: (cwd: string, owner: string) => Promise<string>;
  readonly agents: (seeker: AgentSeeker) => Promise<readonly AgentLine[]>;
  readonly skills: Pick<SkillDesk, "lines" | "linesBelow" | "shelf">;
  readonly memory: Pick<MemoryDesk, "notes" | "of">;
}

/** Processes whose touched folders are remembered, and folders of one: beyond these their skills are out of reach. */
const MAX_PROCESSES = 256;
const MAX_DIRS = 64;

export class GuideDesk implements Guides {
  readonly #options: GuideOptions;
  /** The folders that a process has touched. */
  readonly #touched = new RecentMap<Pid, ReadonlySet<string>>(MAX_PROCESSES);

  constructor(options: GuideOptions) {
    this.#options = options;
  }

  async around(guided: Guided): Promise<Guidance> {
    const { pid, cwd, env, hasAgent, denied, notes, noMemory } = guided;
    const { trust, gitState, agents, skills, memory } = this.#options;
    const view = trust.viewOf(cwd);
    const [git, { texts, notices }, known, lines, found] = await Promise.all([
      // no git for a folder that is not trusted: a repository can make git start programs
      view.isTrusted ? gitState(cwd, `pid ${pid} git`) : "",
      hasAgent && !isOff(env) ? instructionsAt({ ...this.#options, denied }, view, cwd) : NONE,
      hasAgent ? agents(guided) : [],
      hasAgent ? skills.lines(cwd) : [],
      hasAgent && noMemory !== true ? memory.of(view, env, notes) : NO_MEMORY,
    ]);
    const { memory: kept, notices: ofMemory } = found;
    const told = {
      ...{ git, instructions: texts, notices: [...notices, ...ofMemory] },
      ...{ agents: known, skills: lines },
    };
    return kept === undefined ? told : { ...told, memory: kept };
  }

  async near({ pid, cwd, env, hasAgent, denied }: Guided, dirs: readonly string[]): Promise<Nearby> {
    if (!hasAgent) return { instructions: [], notices: [] };
    const view = this.#options.trust.viewOf(cwd);
    const { texts, notices } = isOff(env)
      ? NONE
      : await instructionsBelow({ ...this.#options, denied }, view, { cwd, dirs });
    const touched = [...new Set([...(this.#touched.use(pid) ?? []), ...dirs])].slice(0, MAX_DIRS);
    this.#touched.set(pid, new Set(touched));
    const skills = await this.#options.skills.linesBelow(cwd, dirs);
    return { instructions: texts, notices, skills };
  }

  /** The notes that agents keep, for a process in `cwd`. */
  notes(cwd: string): ReturnType<MemoryDesk["notes"]> {
    const { trust, memory } = this.#options;
    return memory.notes(trust.viewOf(cwd).root);
  }

  skills({ pid, cwd }: Guided): Promise<SkillShelf> {
    return this.#options.skills.shelf(cwd, [...(this.#touched.use(pid) ?? [])]);
  }
}

const NONE = { texts: [], notices: [] };
const NO_MEMORY: FoundMemory = { notices: [] };

function isOff({ CRUX_DISABLE_CLAUDE_MDS: off = "" }: Readonly<Record<string, string>>): boolean {
  return off !== "";
}
