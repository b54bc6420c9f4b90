// This script does what the list does names, and scrolls back to the top. If JSON in the page has much more text than
// the page shows, it also opens the views to which links to missing fragments lead, as long as the page shows them
// beside its other text. It gives up after ten views that add nothing. It returns false if it did nothing.
async (does, maxScrolls, maxMore, maxViews) => {
	const idle = done => { scheduler.postTask(done, {priority: 'background'}); setTimeout(done, 1000) };
	const text = () => document.body?.innerText ?? '';
	const data = [...document.querySelectorAll('script[type="application/json"]')].reduce((n, s) => n + s.textContent.length, 0);
	const hides = data > 1000 && data > 4 * text().length;
	if (does.length === 0 && !hides) return false;
	const sleep = ms => new Promise(done => setTimeout(done, ms));
	const changed = ms => new Promise(done => {
		const seen = new MutationObserver(() => { seen.disconnect(); done() });
		seen.observe(document, {subtree: true, childList: true});
		setTimeout(done, ms);
	});
	const open = () => { if (does.includes('details')) for (const d of document.querySelectorAll('details:not([open])')) d.open = true };
	const scroll = async () => {
		for (let i = 0, last = -1; does.includes('scroll') && i < maxScrolls && scrollY > last; i++) {
			last = scrollY;
			scrollBy({top: innerHeight, behavior: 'instant'});
			await sleep(100);
			if (scrollY === last) { await changed(500); scrollBy({top: innerHeight, behavior: 'instant'}) }
		}
	};
	const more = /^(load|show|view|see) more\b|^more\b|^(mehr|weitere)\b.*(laden|anzeigen)|^(afficher|voir|charger) plus|^(ver|cargar|mostrar) más/i;
	const isMore = e => e.checkVisibility() && !e.disabled && e.innerText.length < 60 && more.test(e.innerText.trim());
	open();
	await scroll();
	for (let i = 0; does.includes('more') && i < maxMore; i++) {
		const button = [...document.querySelectorAll('button:not([type=submit]), [role=button]:not([href]), a[href="#"]')].find(isMore);
		if (!button) break;
		const wait = changed(3000);
		button.click();
		await wait;
		open();
		await scroll();
	}
	if (hides) {
		const views = new Set(), first = location.hash;
		const decoded = id => { try { return decodeURIComponent(id) } catch { return id } };
		const collect = () => {
			for (const a of document.querySelectorAll('a[href^="#"]')) {
				const id = a.hash.slice(1);
				if (id && !document.getElementById(id) && !document.getElementById(decoded(id))) views.add(a.hash);
			}
		};
		const tabs = () => [...document.querySelectorAll('[role=tab]')], chosen = tabs().findIndex(t => t.ariaSelected === 'true');
		collect();
		for (let i = 0, n = tabs().length; i <= n; i++) {
			const wait = changed(200);
			tabs()[i < n ? i : chosen]?.click();
			await wait;
			collect();
		}
		let opened = 0, empty = 0;
		for (const view of views) { // collect adds to them
			if (++opened > maxViews || empty === 10) break;
			const before = text(), had = before.split('\n'), wait = changed(200);
			location.hash = view;
			await wait;
			await sleep(20);
			await new Promise(idle);
			const after = text(), has = new Set(after.split('\n'));
			empty = after.length > before.length ? 0 : empty + 1;
			if (had.filter(line => !has.has(line)).length > had.length / 10) { location.hash = first; break }
			collect();
		}
	}
	scrollTo({top: 0, behavior: 'instant'});
	return true;
}
