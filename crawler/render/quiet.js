// This script waits for quietFor milliseconds, and then until the page has no other task, at the latest after a second.
// It returns the number of changes to the page in that time, whether the page has little text (characters) and timers
// that are due soon, and whether it lacks the element that the CSS selector waitFor selects.
(quietFor, little, waitFor) => new Promise(done => {
	const idle = done => { scheduler.postTask(done, {priority: 'background'}); setTimeout(done, 1000) };
	let changes = 0;
	const seen = new MutationObserver(all => { changes += all.length });
	seen.observe(document, {subtree: true, childList: true, characterData: true});
	const waits = () => (document.body?.innerText ?? '').length < little && !document.dispatchEvent(new Event('askTimers', {cancelable: true}));
	const waited = waits();
	const lacks = () => waitFor !== '' && !document.querySelector(waitFor);
	setTimeout(() => idle(() => { seen.disconnect(); done({changes, waits: waited || waits(), lacks: lacks()}) }), quietFor);
})
