/** What keys do in the agents panel. The prompt's router asks here first; what is not taken is the editor's. */
import { hasEnded, type PanelRow } from "./rows.ts";

/** The parts of the footer that can have the focus, in the order of their places. */
type FooterSelection = "bg_agent" | "tasks" | "tmux" | "teams" | "bridge" | "companion";

export interface PanelState {
  readonly footerSelection: FooterSelection | null;
  /** -1: the row of `main`. */
  readonly selectedBgAgentIndex: number;
  /** The agentId of the agent whose view is open. */
  readonly viewingAgentTaskId?: string;
}

export const PANEL_AT_START: PanelState = { footerSelection: null, selectedBgAgentIndex: -1 };

export type PanelKey = "up" | "down" | "enter" | "escape" | "shift_down" | "ctrl_b" | "x";

type PanelAction =
  | { readonly kind: "view" | "leave" | "background" | "stop" | "clear"; readonly agentId: string }
  /** The dialog of all processes. */
  | { readonly kind: "processes" };

/** `isIdle`: the editor is empty, at the end of its history. */
interface PanelScene {
  readonly rows: readonly PanelRow[];
  readonly isIdle: boolean;
}

/** undefined: the key is not the panel's. */
export function onPanelKey(
  state: PanelState,
  key: PanelKey,
  scene: PanelScene,
): { readonly state: PanelState; readonly action?: PanelAction } | undefined {
  if (scene.rows.length === 0) return undefined;
  const now = clamped(state, scene.rows);
  if (key === "shift_down") return { state: now, action: { kind: "processes" } };
  if (key === "ctrl_b") return handedOver(now, scene.rows);
  if (key === "x" && now.viewingAgentTaskId !== undefined && scene.isIdle) return ended(now, scene.rows);
  if (now.footerSelection === "bg_agent") return inPanel(now, key, scene.rows);
  if (key !== "down" || !scene.isIdle) return undefined;
  return { state: { ...now, footerSelection: "bg_agent", selectedBgAgentIndex: -1 } };
}

/** The state once rows have gone: the index stays within them, and a view of what is gone is over. */
export function clamped(state: PanelState, rows: readonly PanelRow[]): PanelState {
  const { viewingAgentTaskId: viewing, ...rest } = state;
  const index = Math.max(-1, Math.min(state.selectedBgAgentIndex, rows.length - 1));
  const isThere = rows.some(({ agentId }) => agentId === viewing);
  return {
    ...rest,
    ...(viewing !== undefined && isThere ? { viewingAgentTaskId: viewing } : {}),
    selectedBgAgentIndex: index,
    footerSelection: rows.length === 0 && state.footerSelection === "bg_agent" ? null : state.footerSelection,
  };
}

/** The agentId of the one that the cursor is on; undefined: it is on `main`. */
export function chosenOf(state: PanelState, rows: readonly PanelRow[]): string | undefined {
  return rows[state.selectedBgAgentIndex]?.agentId;
}

/** The state among the rows of now: the cursor stays on its agent as others go; once that has gone, within the rows. */
export function followed(
  state: PanelState,
  rows: readonly PanelRow[],
  chosen: string | undefined,
): PanelState {
  const at = rows.findIndex(({ agentId }) => agentId === chosen);
  return clamped(at < 0 ? state : { ...state, selectedBgAgentIndex: at }, rows);
}

/** The index of the highlighted row, -1 for `main`: the cursor while the panel has the focus, else the view. */
export function highlighted(state: PanelState, rows: readonly PanelRow[]): number {
  if (state.footerSelection === "bg_agent") return state.selectedBgAgentIndex;
  return rows.findIndex(({ agentId }) => agentId === state.viewingAgentTaskId);
}

export const PANEL_HINTS = {
  manage: "shift+↓ to manage background agents",
  select: "↑/↓ to select · Enter to view",
  stop: "shift+↓ to manage · x to stop",
  clear: "shift+↓ to manage · x to clear",
};

/** `hints`: in the language of the screen. */
export function panelHint(state: PanelState, rows: readonly PanelRow[], hints = PANEL_HINTS): string {
  const viewing = rows.find(({ agentId }) => agentId === state.viewingAgentTaskId);
  if (viewing !== undefined) return hasEnded(viewing) ? hints.clear : hints.stop;
  if (state.footerSelection === "bg_agent") return hints.select;
  return rows.length === 0 ? "" : hints.manage;
}

function inPanel(state: PanelState, key: PanelKey, rows: readonly PanelRow[]): ReturnType<typeof onPanelKey> {
  const at = state.selectedBgAgentIndex;
  const editor = { state: { ...state, footerSelection: null } };
  switch (key) {
    case "down":
      return { state: { ...state, selectedBgAgentIndex: Math.min(at + 1, rows.length - 1) } };
    case "up":
      return at < 0 ? editor : { state: { ...state, selectedBgAgentIndex: at - 1 } };
    case "escape":
      return editor;
    case "enter":
      return entered(state, rows[at]);
    default:
      return undefined;
  }
}

/** The focus stays in the panel. On `main` the view that is open is left. */
function entered(state: PanelState, row: PanelRow | undefined): ReturnType<typeof onPanelKey> {
  const { viewingAgentTaskId: viewing, ...rest } = state;
  if (row !== undefined)
    return {
      state: { ...rest, viewingAgentTaskId: row.agentId },
      action: { kind: "view", agentId: row.agentId },
    };
  return viewing === undefined ? { state } : { state: rest, action: { kind: "leave", agentId: viewing } };
}

/** The call that waits for the highlighted agent waits no longer. On `main`, and on one that has ended, the key is not the panel's. */
function handedOver(state: PanelState, rows: readonly PanelRow[]): ReturnType<typeof onPanelKey> {
  const row = rows[highlighted(state, rows)];
  if (row === undefined || hasEnded(row)) return undefined;
  return { state, action: { kind: "background", agentId: row.agentId } };
}

function ended(state: PanelState, rows: readonly PanelRow[]): ReturnType<typeof onPanelKey> {
  const { viewingAgentTaskId: agentId = "", ...rest } = state;
  const row = rows.find((each) => each.agentId === agentId);
  if (row === undefined || !hasEnded(row)) return { state, action: { kind: "stop", agentId } };
  return { state: rest, action: { kind: "clear", agentId } };
}
