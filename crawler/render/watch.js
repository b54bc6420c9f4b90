// This script runs before the scripts of a page. It remembers when the timers of the page are due, and cancels the
// event askTimers if one of them is due soon (milliseconds). It also opens closed shadow roots, which html.js could
// not read. Proxies look like the functions of the browser, in case a page examines them.
soon => {
	const wrap = (on, name, apply) => { on[name] = new Proxy(on[name], {apply}) };
	const due = new Map(), now = performance.now.bind(performance);
	wrap(window, 'setTimeout', (set, self, args) => {
		const id = Reflect.apply(set, self, args), ms = Number(args[1]) || 0;
		if (ms <= soon && due.size < 1000) due.set(id, now() + ms);
		return id;
	});
	wrap(window, 'clearTimeout', (clear, self, args) => { due.delete(args[0]); return Reflect.apply(clear, self, args) });
	wrap(Element.prototype, 'attachShadow', (attach, self, args) => Reflect.apply(attach, self, [{...args[0], mode: 'open'}]));
	document.addEventListener('askTimers', e => {
		for (const [id, at] of due) if (at < now()) due.delete(id);
		if (due.size > 0) e.preventDefault();
	});
}
