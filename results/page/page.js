/*
 * page.js - what the page can do beyond being read: tables sort by a column, and
 * every number says what it is to who points at it, taps it or comes to it with
 * the keyboard. Without it nothing is hidden.
 */
"use strict";
(() => {
	const tip = document.getElementById("tip");

	/* ---- sorting: numbers by data-value, what is empty always last ---- */

	const keyOf = (cell) => {
		const text = cell.dataset.value ?? cell.textContent.trim();
		const number = Number(text);

		if (text === "" || text === "-")
			return { empty: true };
		return Number.isNaN(number) ? { text } : { number };
	};

	const compare = (a, b) => {
		if (a.number !== undefined && b.number !== undefined)
			return a.number - b.number;
		if (a.text !== undefined && b.text !== undefined)
			return a.text.localeCompare(b.text, "en", { numeric: true });
		return a.number !== undefined ? -1 : 1;
	};

	const sortBy = (head) => {
		const table = head.closest("table");
		const body = table.tBodies[0];
		const column = head.cellIndex;
		const down = head.getAttribute("aria-sort") === "ascending";
		const rows = [...body.rows].map((row) => ({ row, key: keyOf(row.cells[column]) }));

		rows.sort((a, b) => {
			if (a.key.empty || b.key.empty)
				return Boolean(a.key.empty) - Boolean(b.key.empty);
			return down ? compare(b.key, a.key) : compare(a.key, b.key);
		});
		for (const other of table.tHead.rows[0].cells)
			other.setAttribute("aria-sort", "none");
		head.setAttribute("aria-sort", down ? "descending" : "ascending");
		body.append(...rows.map((r) => r.row));
	};

	const makeSortable = (head) => {
		const button = document.createElement("button");

		button.type = "button";
		button.className = "sort";
		button.append(...head.childNodes);
		head.append(button);
		head.setAttribute("aria-sort", "none");
		button.addEventListener("click", () => sortBy(head));
	};

	/* ---- definitions: an abbreviation's title, where fingers get at it ---- */

	const takeTitle = (abbr) => {
		const head = abbr.closest("th");
		const unit = head.querySelector("small");

		head.dataset.doc = abbr.title;
		head.dataset.name = abbr.textContent + (unit ? ` (${unit.textContent})` : "");
		abbr.removeAttribute("title");
	};

	const headsOf = (cell) => [
		cell.closest("table").tHead.rows[0].cells[cell.cellIndex],
		cell.parentElement.cells[0],
	];

	const wordsOf = (cell) => {
		const words = [];

		if (cell.dataset.doc)
			return `${cell.dataset.name}: ${cell.dataset.doc}`;
		for (const head of cell.tagName === "TD" ? headsOf(cell) : []) {
			if (head && head.dataset.doc)
				words.push(`${head.dataset.name}: ${head.dataset.doc}`);
		}
		if (cell.dataset.more)
			words.push(cell.dataset.more);
		/* What does not fit into its cell. */
		if (cell.scrollWidth > cell.clientWidth)
			words.push(cell.textContent);
		return words.join("\n");
	};

	let shown = null; /* the cell that the tip is about */

	const describedBy = (cell) => cell.querySelector("button.sort") ?? cell;

	const hide = () => {
		tip.hidden = true;
		if (shown)
			describedBy(shown).removeAttribute("aria-describedby");
		shown = null;
	};

	/* Below the cell, or above it where there is no room. */
	const place = () => {
		const at = shown.getBoundingClientRect();

		/* Else it is as narrow as where it last was. */
		tip.style.left = "0";
		const left = Math.min(at.left, innerWidth - tip.offsetWidth - 8);
		const below = at.bottom + 6 + tip.offsetHeight < innerHeight;
		const top = below ? at.bottom + 6 : at.top - tip.offsetHeight - 6;

		tip.style.left = `${Math.max(8, left)}px`;
		tip.style.top = `${Math.max(8, top)}px`;
	};

	const show = (cell) => {
		const words = wordsOf(cell);

		hide();
		if (!words)
			return;
		shown = cell;
		tip.textContent = words;
		tip.hidden = false;
		place();
		describedBy(cell).setAttribute("aria-describedby", "tip");
	};

	/* What has come into sight because it has the focus keeps its tip. */
	const onScroll = () => {
		if (shown && shown.contains(document.activeElement))
			place();
		else
			hide();
	};

	const cellAt = (event) => event.target.closest?.("main th, main td");

	const onEnter = (event) => {
		const cell = cellAt(event);

		if (cell)
			show(cell);
		else
			hide();
	};

	/* Where the page moves under a pointer that rests, nobody has pointed. */
	let pointed = "";

	const onPoint = (event) => {
		const at = `${event.screenX} ${event.screenY}`;

		if (at !== pointed)
			onEnter(event);
		pointed = at;
	};

	/* ---- the keyboard: arrows go from cell to cell ---- */

	const steps = {
		ArrowUp: [-1, 0],
		ArrowDown: [1, 0],
		ArrowLeft: [0, -1],
		ArrowRight: [0, 1],
	};

	const onKey = (event) => {
		const cell = cellAt(event);
		const step = steps[event.key];

		if (event.key === "Escape")
			hide();
		if (!cell || !step)
			return;
		const rows = [...cell.closest("table").rows];
		const row = rows[rows.indexOf(cell.parentElement) + step[0]];
		const next = row?.cells[cell.cellIndex + step[1]];

		if (!next)
			return;
		event.preventDefault();
		(next.querySelector("button.sort") ?? next).focus();
	};

	document.querySelectorAll("main th abbr").forEach(takeTitle);
	document.querySelectorAll("main thead th").forEach(makeSortable);
	document.querySelectorAll("main tbody th, main tbody td").forEach((cell) => {
		cell.tabIndex = -1;
	});
	document.addEventListener("pointerover", onPoint);
	document.addEventListener("focusin", onEnter);
	document.addEventListener("focusout", hide);
	document.addEventListener("scroll", onScroll, true);
	document.addEventListener("keydown", onKey);
})();
