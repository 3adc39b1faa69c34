// Replays recorded trajectories. The page knows nothing about operators: a step is a list of
// character edits and a cursor, and every picture below is drawn from those alone.

const KINDS = ["insert", "move", "stop", "delete", "replace", "swap", "span"];
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16];
const ACTIONS_PER_SECOND = 8;
const FADE_STEPS = 7;
const CHECKPOINT_EVERY = 32;

const find = (id) => document.getElementById(id);
const app = find("app");

const trajectories = JSON.parse(find("data").textContent);

const player = { number: 0, step: 0, speed: 1, playing: false, recording: null, map: null };

// ---------------------------------------------------------------------------------------------
// Text states. A state is a text, its cursor, and runs that say when each stretch was written.
// States are never changed, so a checkpoint can be kept by keeping a reference.

function startState(trajectory) {
  const { start_text: text, prefix, suffix, start_cursor: cursor } = trajectory;
  const runs = [
    { length: prefix, born: 0, region: "prompt" },
    { length: text.length - prefix - suffix, born: 0, region: "given" },
    { length: suffix, born: 0, region: "suffix" },
  ];
  return { step: 0, text, cursor, runs: runs.filter((run) => run.length > 0) };
}

function sliceRuns(runs, from, to) {
  const slice = [];
  let offset = 0;
  for (const run of runs) {
    const length = Math.min(to, offset + run.length) - Math.max(from, offset);
    if (length > 0) slice.push(length === run.length ? run : { ...run, length });
    offset += run.length;
  }
  return slice;
}

function applyEdit({ text, runs }, [start, end, replacement], born) {
  const added = { length: replacement.length, born, region: "written" };
  return {
    text: text.slice(0, start) + replacement + text.slice(end),
    runs: [
      ...sliceRuns(runs, 0, start),
      ...(added.length ? [added] : []),
      ...sliceRuns(runs, end, Infinity),
    ],
  };
}

function nextState(state, trajectory) {
  const born = state.step + 1;
  const { edits, cursor } = trajectory.steps[state.step];
  const edited = edits.reduce((result, edit) => applyEdit(result, edit, born), state);
  return { step: born, text: edited.text, runs: edited.runs, cursor };
}

/** A trajectory that can be asked for its state after any number of steps. */
class Recording {
  constructor(trajectory) {
    this.trajectory = trajectory;
    this.length = trajectory.steps.length;
    this.current = startState(trajectory);
    this.checkpoints = [this.current];
    this.statistics = statisticsOf(this.#statesFromTheStart(), trajectory);
    this.final = this.current;
    this.places = finalPlaces(trajectory);
  }

  *#statesFromTheStart() {
    yield this.current;
    while (this.current.step < this.length) {
      this.current = nextState(this.current, this.trajectory);
      if (this.current.step % CHECKPOINT_EVERY === 0) this.checkpoints.push(this.current);
      yield this.current;
    }
  }

  // Going back replays forward from a checkpoint: there is no inverse that could be wrong.
  stateAt(step) {
    const checkpoint = this.checkpoints[Math.floor(step / CHECKPOINT_EVERY)];
    const { current } = this;
    let state = current.step <= step && current.step > checkpoint.step ? current : checkpoint;
    while (state.step < step) state = nextState(state, this.trajectory);
    this.current = state;
    return state;
  }
}

// ---------------------------------------------------------------------------------------------
// Statistics

function statisticsOf(states, trajectory) {
  const counts = Object.fromEntries(KINDS.map((kind) => [kind, 0]));
  const moves = [];
  let insideInserts = 0;
  let before = null;
  for (const state of states) {
    if (before) {
      const { kind } = trajectory.steps[before.step];
      counts[kind] += 1;
      if (kind === "move") moves.push(state.cursor - before.cursor);
      const end = before.text.length - trajectory.suffix;
      if (kind === "insert" && before.cursor < end) insideInserts += 1;
    }
    before = state;
  }
  return { actions: trajectory.steps.length, counts, moves, insideInserts };
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const decimal = (number) => number.toLocaleString("en", { maximumFractionDigits: 2 });
const tenths = (number) => decimal(Math.round(number * 10) / 10);
const percent = (part, whole) => (whole ? `${tenths((100 * part) / whole)}%` : "");

const EDIT_NAMES = {
  delete: "Deletions",
  replace: "Replacements",
  swap: "Swaps",
  span: "Span edits",
};

/** Rows of [label, value, share]; a kind of edit that never happened gets no row. */
function statisticRows({ actions, counts, moves, insideInserts }, facts) {
  const backward = moves.filter((move) => move < 0).length;
  const meanMove = moves.length ? sum(moves.map(Math.abs)) / moves.length : 0;
  const otherEdits = Object.entries(EDIT_NAMES).filter(([kind]) => counts[kind]);
  return [
    ["Actions", decimal(actions)],
    ["Inserts", decimal(counts.insert), percent(counts.insert, actions)],
    ["Inserts before the end", decimal(insideInserts), percent(insideInserts, counts.insert)],
    ["Moves", decimal(counts.move), percent(counts.move, actions)],
    ["Backward moves", decimal(backward), percent(backward, counts.move)],
    ["Mean move", moves.length ? `${tenths(meanMove)} characters` : "–"],
    ...otherEdits.map(([kind, name]) => [
      name,
      decimal(counts[kind]),
      percent(counts[kind], actions),
    ]),
    ["Actions per inserted token", counts.insert ? decimal(actions / counts.insert) : "–"],
    ...facts,
  ];
}

// ---------------------------------------------------------------------------------------------
// Insertion map: every edit is drawn where its text ended up, so that writing in order is a
// straight diagonal and going back is a new stroke.

/** Carry a position across an edit; it belongs to the character on its left or on its right. */
function carry(position, { start, end, growth }, side) {
  const isBefore = side === "left" ? position <= start : position < start;
  const isAfter = side === "left" ? position > end : position >= end;
  if (isBefore) return position;
  return isAfter ? position + growth : start;
}

/** Places in the final text: one mark per edit, and the cursor after every step. */
function finalPlaces({ steps, start_cursor: startCursor }) {
  const edits = steps
    .flatMap((step) => step.edits)
    .map(([start, end, text]) => ({ start, end, growth: text.length - (end - start) }));
  const place = (position, side, editsDone) => {
    let carried = position;
    for (let i = editsDone; i < edits.length; i += 1) carried = carry(carried, edits[i], side);
    return carried;
  };

  const marks = [];
  const marksOfStep = steps.map((step, index) =>
    step.edits.map(([start, , replacement]) => {
      const editsDone = marks.length + 1;
      const top = place(start, "right", editsDone);
      const bottom = place(start + replacement.length, "left", editsDone);
      marks.push({ step: index + 1, kind: step.kind, top, bottom });
      return marks.at(-1);
    }),
  );

  // A cursor stands between two characters that later writing may drive far apart. It is drawn
  // where it just wrote, or where it writes next, or else on the side nearer to where it came from.
  const cursors = [];
  let editsDone = 0;
  for (let step = 0; step <= steps.length; step += 1) {
    editsDone += step > 0 ? steps[step - 1].edits.length : 0;
    const position = step > 0 ? steps[step - 1].cursor : startCursor;
    const [left, right] = ["left", "right"].map((side) => place(position, side, editsDone));
    const from = cursors.at(-1) ?? left;
    const nearer = Math.abs(left - from) <= Math.abs(right - from) ? left : right;
    cursors.push(marksOfStep[step - 1]?.at(-1)?.bottom ?? marksOfStep[step]?.[0]?.top ?? nearer);
  }
  return { marks, cursors };
}

/** Pixel scales shared by the map and the timeline, so that their steps line up. */
function scalesFor(recording, width, height) {
  const { prefix, suffix } = recording.trajectory;
  const thumb = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--thumb"));
  const band = { top: prefix ? 9 : 0, bottom: suffix ? 9 : 0 };
  const margin = 7;
  const span = Math.max(1, recording.final.text.length - suffix - prefix);
  const inner = height - band.top - band.bottom - 2 * margin;
  const x = (step) => thumb / 2 + (step / Math.max(1, recording.length)) * (width - thumb);
  const y = (place) => band.top + margin + ((place - prefix) / span) * inner;
  return { x, y, band };
}

function boxPath(left, top, width, height) {
  const [l, t, w, h] = [left, top, width, height].map((number) => number.toFixed(2));
  return `M${l} ${t}h${w}v${h}h-${w}z`;
}

function pathsByKind(pieces) {
  const paths = new Map();
  for (const [kind, path] of pieces) paths.set(kind, (paths.get(kind) ?? "") + path);
  // Moves come first: the strokes of writing lie over the thin lines that join them.
  return ["move", ...KINDS.filter((kind) => kind !== "move")]
    .filter((kind) => paths.has(kind))
    .map((kind) => `<path data-kind="${kind}" d="${paths.get(kind)}"/>`)
    .join("");
}

function drawMap() {
  const { recording } = player;
  const { width, height } = find("map").getBoundingClientRect();
  const { x, y, band } = scalesFor(recording, width, height);
  const { marks, cursors } = recording.places;
  const stepWidth = x(1) - x(0);

  const pieces = marks.map(({ step, kind, top, bottom }) => {
    const barHeight = Math.max(2.5, y(bottom) - y(top));
    const barTop = (y(top) + y(bottom) - barHeight) / 2;
    return [kind, boxPath(x(step - 1), barTop, Math.max(1.5, stepWidth), barHeight)];
  });
  recording.trajectory.steps.forEach(({ kind }, index) => {
    if (kind !== "move") return;
    const middle = (x(index) + stepWidth / 2).toFixed(2);
    const [from, to] = [cursors[index], cursors[index + 1]].map((place) => y(place).toFixed(2));
    pieces.push([kind, `M${middle} ${from}V${to}`]);
  });
  find("marks").innerHTML = pathsByKind(pieces);

  setAttributes(find("order"), { x1: x(0), x2: x(recording.length) });
  setAttributes(find("prompt-band"), { y: 0, height: band.top });
  setAttributes(find("suffix-band"), { y: height - band.bottom, height: band.bottom });
  player.map = { x, y, cursors };
}

function drawStrip() {
  const { x } = player.map;
  const { height } = find("strip").getBoundingClientRect();
  const stepWidth = x(1) - x(0);
  const gap = Math.min(1, stepWidth / 4);
  const pieces = player.recording.trajectory.steps.map(({ kind }, index) => {
    const tall = kind === "insert" ? 4 : 14;
    return [kind, boxPath(x(index), (height - tall) / 2, stepWidth - gap, tall)];
  });
  find("ticks").innerHTML = pathsByKind(pieces);
}

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

function drawPictures() {
  drawMap();
  drawStrip();
  showPlayhead();
}

// ---------------------------------------------------------------------------------------------
// Showing one step

/** Stretches of text that look the same, cut where the caret stands. */
function stretches(state, byOrder) {
  const cut = [
    ...sliceRuns(state.runs, 0, state.cursor),
    { length: 0, region: "caret" },
    ...sliceRuns(state.runs, state.cursor, Infinity),
  ];
  const result = [];
  let offset = 0;
  for (const { length, born, region } of cut) {
    const age = region === "written" ? state.step - born : FADE_STEPS;
    const look = `${region} ${Math.min(age, FADE_STEPS)} ${byOrder ? born : ""}`;
    const last = result.at(-1);
    if (last?.look === look) last.end += length;
    else result.push({ look, region, age, born, start: offset, end: offset + length });
    offset += length;
  }
  return result;
}

function stretchElement({ region, age, born, start, end }, text, steps) {
  const element = document.createElement("span");
  element.className = region;
  element.textContent = text.slice(start, end);
  if (region === "written") element.style.setProperty("--when", (born / steps).toFixed(3));
  if (age < FADE_STEPS) {
    element.classList.add("fresh");
    element.style.setProperty("--freshness", (1 - age / FADE_STEPS).toFixed(2));
  }
  return element;
}

function showText(state) {
  const elements = stretches(state, find("by-order").checked).map((stretch) =>
    stretchElement(stretch, state.text, player.recording.length),
  );
  find("text").replaceChildren(...elements);
  keepInView(find("page"), document.querySelector(".caret"), 48);
}

/** Scroll a container, and nothing around it, until the element is inside with some room. */
function keepInView(container, element, room) {
  const outer = container.getBoundingClientRect();
  const inner = element.getBoundingClientRect();
  const above = inner.top - outer.top - room;
  const below = inner.bottom - outer.bottom + room;
  if (above < 0) container.scrollTop += above;
  else if (below > 0) container.scrollTop += below;
}

function showAction(step) {
  const list = find("actions");
  list.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
  const row = list.children[step];
  row.setAttribute("aria-selected", "true");
  list.setAttribute("aria-activedescendant", row.id);
  list.scrollTop = row.offsetTop - (list.clientHeight - row.offsetHeight) / 2;
}

function showPlayhead() {
  const { step, map } = player;
  const x = map.x(step);
  for (const area of document.querySelectorAll(".past-area")) area.setAttribute("width", x);
  setAttributes(document.querySelector(".playhead"), { x1: x, x2: x });
  setAttributes(document.querySelector(".here"), { cx: x, cy: map.y(map.cursors[step]) });
}

function showCounter(step, length) {
  const current = document.createElement("b");
  current.textContent = step;
  find("counter").replaceChildren(current, ` / ${length}`);
}

/** Not the disabled attribute: a disabled button that has the focus swallows every key. */
function setAvailable(ids, available) {
  for (const id of ids) find(id).setAttribute("aria-disabled", !available);
}

function showStep() {
  const { recording, step } = player;
  app.dataset.step = step;
  find("scrubber").value = step;
  setAvailable(["back", "to-start"], step > 0);
  setAvailable(["forward", "to-end"], step < recording.length);
  showCounter(step, recording.length);
  showText(recording.stateAt(step));
  showAction(step);
  showPlayhead();
}

// ---------------------------------------------------------------------------------------------
// Showing one trajectory

function actionRow(step, number) {
  const row = document.createElement("li");
  row.id = `action-${number}`;
  row.dataset.step = number;
  if (step.kind) row.dataset.kind = step.kind;
  row.setAttribute("role", "option");
  row.setAttribute("aria-selected", "false");
  const probability = step.probability ?? null;
  const parts = { number, label: step.label };
  if (probability !== null) parts.probability = `${Math.round(100 * probability)}%`;
  for (const [name, text] of Object.entries(parts)) {
    const part = document.createElement("span");
    part.className = name;
    part.textContent = text;
    row.append(part);
  }
  return row;
}

function showActions(trajectory) {
  const start = { label: "start" };
  find("actions").replaceChildren(...[start, ...trajectory.steps].map(actionRow));
  const present = KINDS.filter((kind) => trajectory.steps.some((step) => step.kind === kind));
  const entries = present.map((kind) => {
    const entry = document.createElement("li");
    entry.dataset.kind = kind;
    entry.textContent = kind;
    return entry;
  });
  find("legend").replaceChildren(...entries);
}

function showStatistics(recording) {
  const rows = statisticRows(recording.statistics, recording.trajectory.facts);
  const elements = rows.map(([label, value, share]) => {
    const row = document.createElement("div");
    const term = document.createElement("dt");
    const description = document.createElement("dd");
    term.textContent = label;
    description.textContent = value;
    if (share) {
      const part = document.createElement("span");
      part.className = "share";
      part.textContent = share;
      description.append(part);
    }
    row.append(term, description);
    return row;
  });
  find("statistics").replaceChildren(...elements);
}

function firstDifference(one, other) {
  let index = 0;
  while (index < one.length && one[index] === other[index]) index += 1;
  return index;
}

function showVerdict({ final, trajectory: { expected } }) {
  const verdict = find("verdict");
  verdict.hidden = expected === null;
  if (expected === null) return;
  const matches = final.text === expected;
  verdict.className = `verdict ${matches ? "matches" : "differs"}`;
  verdict.textContent = matches
    ? "Final text as expected"
    : `Final text differs from the expected one at character ${
        firstDifference(final.text, expected) + 1
      }`;
}

function showTrajectory(number) {
  const recording = new Recording(trajectories[number]);
  Object.assign(player, { number, recording, step: 0 });
  app.dataset.trajectory = number + 1;
  find("trajectory").value = number;
  setAvailable(["previous"], number > 0);
  setAvailable(["next"], number < trajectories.length - 1);
  find("scrubber").max = recording.length;
  // Proportional letters would break the indentation of code.
  find("text").classList.toggle("looks-like-code", /^[ \t]{2,}\S/m.test(recording.final.text));
  showActions(recording.trajectory);
  showStatistics(recording);
  showVerdict(recording);
  drawPictures();
}

// ---------------------------------------------------------------------------------------------
// Commands

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

function goToStep(step) {
  player.step = clamp(step, 0, player.recording.length);
  showStep();
  rememberPlace();
}

/** A step chosen by hand: playing on would take it away again. */
function pickStep(step) {
  setPlaying(false);
  goToStep(step);
}

function openTrajectory(number, step = 0) {
  setPlaying(false);
  showTrajectory(clamp(number, 0, trajectories.length - 1));
  goToStep(step);
}

function changeTrajectory(direction) {
  const number = clamp(player.number + direction, 0, trajectories.length - 1);
  if (number !== player.number) openTrajectory(number);
}

function setPlaying(playing) {
  if (player.playing === playing) return;
  player.playing = playing;
  app.dataset.playing = playing;
  find("play").setAttribute("aria-label", playing ? "Pause" : "Play");
  if (playing) startClock();
  else rememberPlace();
}

function togglePlaying() {
  if (!player.playing && player.step === player.recording.length) goToStep(0);
  setPlaying(!player.playing);
}

function startClock() {
  let before = null;
  let due = 0;
  const tick = (now) => {
    if (!player.playing) return;
    due += ((now - (before ?? now)) / 1000) * ACTIONS_PER_SECOND * player.speed;
    before = now;
    if (due >= 1) goToStep(player.step + Math.floor(due));
    due %= 1;
    if (player.step === player.recording.length) setPlaying(false);
    else requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}

function changeSpeed(direction) {
  const index = SPEEDS.indexOf(player.speed) + direction;
  player.speed = SPEEDS[clamp(index, 0, SPEEDS.length - 1)];
  find("speed").textContent = `${player.speed}×`;
  setAvailable(["slower"], player.speed > SPEEDS[0]);
  setAvailable(["faster"], player.speed < SPEEDS.at(-1));
}

function toggleTheme() {
  const root = document.documentElement;
  const preferred = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  root.dataset.theme = (root.dataset.theme ?? preferred) === "dark" ? "light" : "dark";
}

function showOrder() {
  app.classList.toggle("by-order", find("by-order").checked);
  showStep();
}

function toggleHelp() {
  const help = find("help");
  if (help.open) help.close();
  else help.showModal();
}

// ---------------------------------------------------------------------------------------------
// The address remembers the place as #trajectory/step, counted from one and from zero.

function rememberPlace() {
  // Browsers limit how often the address may change, so it waits for the end of a run.
  if (player.playing) return;
  const place = `#${player.number + 1}/${player.step}`;
  clearTimeout(rememberPlace.timer);
  rememberPlace.timer = setTimeout(() => {
    if (location.hash !== place) history.replaceState(null, "", place);
  }, 120);
}

function openRememberedPlace() {
  const [, number, step] = location.hash.match(/^#(\d+)(?:\/(\d+))?$/) ?? [];
  openTrajectory(number ? Number(number) - 1 : 0, Number(step ?? 0));
}

// ---------------------------------------------------------------------------------------------
// Mouse and keyboard

const COMMANDS = {
  "to-start": () => pickStep(0),
  back: () => pickStep(player.step - 1),
  play: togglePlaying,
  forward: () => pickStep(player.step + 1),
  "to-end": () => pickStep(player.recording.length),
  slower: () => changeSpeed(-1),
  faster: () => changeSpeed(1),
  previous: () => changeTrajectory(-1),
  next: () => changeTrajectory(1),
  theme: toggleTheme,
  "help-open": toggleHelp,
};

const KEYS = {
  " ": COMMANDS.play,
  ArrowLeft: COMMANDS.back,
  ArrowRight: COMMANDS.forward,
  Home: COMMANDS["to-start"],
  End: COMMANDS["to-end"],
  "-": COMMANDS.slower,
  "+": COMMANDS.faster,
  "=": COMMANDS.faster,
  "[": COMMANDS.previous,
  "]": COMMANDS.next,
  "?": toggleHelp,
  c: () => find("by-order").click(),
};

const LIST_KEYS = { ArrowUp: COMMANDS.back, ArrowDown: COMMANDS.forward };

/** Whether the focused control has a use of its own for the key. */
function belongsToControl(key, control) {
  if (control.matches("select")) return true;
  if (control.matches("button, input[type=checkbox]")) return key === " ";
  if (control.matches("input[type=range]")) return /^(Arrow|Home|End)/.test(key);
  return false;
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (find("help").open && event.key !== "?") return;
  if (belongsToControl(event.key, event.target)) return;
  const key = event.key === "C" ? "c" : event.key;
  const inList = event.target === find("actions");
  const command = KEYS[key] ?? (inList ? LIST_KEYS[key] : undefined);
  if (!command) return;
  event.preventDefault();
  command();
}

function stepUnder(event) {
  const { left } = find("map").getBoundingClientRect();
  const { x } = player.map;
  return Math.round((event.clientX - left - x(0)) / (x(1) - x(0)));
}

function scrubOnMap(event) {
  if (event.buttons === 1) pickStep(stepUnder(event));
}

function connectControls() {
  for (const [id, command] of Object.entries(COMMANDS)) {
    find(id).addEventListener("click", command);
    // A clicked button would keep the focus and take the next press of the space bar.
    find(id).addEventListener("mousedown", (event) => event.preventDefault());
  }
  find("trajectory").addEventListener("change", (event) => openTrajectory(+event.target.value));
  find("scrubber").addEventListener("input", (event) => pickStep(+event.target.value));
  find("by-order").addEventListener("change", showOrder);
  find("map").addEventListener("pointerdown", (event) => {
    find("map").setPointerCapture(event.pointerId);
    scrubOnMap(event);
  });
  find("map").addEventListener("pointermove", scrubOnMap);
  find("actions").addEventListener("click", (event) => {
    const row = event.target.closest("li");
    if (row) pickStep(+row.dataset.step);
  });
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", openRememberedPlace);
  new ResizeObserver(drawPictures).observe(find("map"));
}

function fillPicker() {
  find("picker").hidden = trajectories.length === 1;
  const options = trajectories.map(({ name }, index) => new Option(`${index + 1}. ${name}`, index));
  find("trajectory").replaceChildren(...options);
}

fillPicker();
changeSpeed(0);
openRememberedPlace();
connectControls();
