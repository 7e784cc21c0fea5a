//! The bodies of answers.

use std::collections::VecDeque;
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::sync::watch;
use tokio::time::{Sleep, sleep};

use crate::busy::Busy;
use crate::counted::Counted;
use crate::head::Piece;
use crate::log::Line;
use crate::store::Reader;
use crate::tail::TailHandle;

/// An error of any kind.
pub(crate) type AnyError = Box<dyn Error + Send + Sync>;

/// Bytes of a part that is sent at once, at most. The last part no longer keeps its connection busy while it is sent, so it must be small enough for a slow client.
const PART: usize = 256 << 10;

/// The body of an answer.
pub(crate) struct Body {
    source: Source,
    /// Bytes that are left out before the first one that is sent.
    skip: u64,
    /// Bytes that are still to be sent, if that is known.
    left: Option<u64>,
    /// What is logged when this is dropped.
    line: Option<Box<Line>>,
    /// Keeps the connection from being idle.
    busy: Option<Busy>,
    /// How the answer counts when this is dropped.
    counted: Option<Box<Counted>>,
}

enum Source {
    /// All of it is here.
    Here(VecDeque<Bytes>),
    /// It arrives, and others read it, too.
    Arriving(Box<Reader>),
    /// It goes on in a window, from this part on.
    Tail(TailHandle, u64),
    /// It comes from the other side, for this one alone.
    Passing(Box<Passing>),
}

/// A body from the other side, which must not pause for too long.
struct Passing {
    incoming: Incoming,
    timeout: Duration,
    /// Bytes that may still come.
    most: u64,
    /// When it has paused for too long, once it pauses.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Told of each part that is taken, and dropped when all has come.
    progress: Option<watch::Sender<()>>,
}

impl Passing {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, AnyError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.incoming).poll_frame(context) {
            self.deadline = None;
            self.progress.iter().for_each(|progress| progress.send_replace(()));
            if let Some(Ok(frame)) = &frame {
                // In a request, fields behind the body would come past the filter of those before it.
                if frame.is_trailers() && self.progress.is_some() {
                    return Poll::Ready(None);
                }
                let length = frame.data_ref().map_or(0, |data| data.len() as u64);
                match self.most.checked_sub(length) {
                    Some(most) => self.most = most,
                    None => return Poll::Ready(Some(Err("more has come than may".into()))),
                }
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(self.timeout)));
        deadline.as_mut().poll(context).map(|()| Some(Err("nothing has come for too long".into())))
    }
}

impl Body {
    /// Bytes that are all here.
    pub(crate) fn here(parts: impl IntoIterator<Item = Bytes>) -> Self {
        let parts: VecDeque<Bytes> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let left = parts.iter().map(|part| part.len() as u64).sum();
        Self { source: Source::Here(parts), skip: 0, left: Some(left), line: None, busy: None, counted: None }
    }

    /// No bytes.
    pub(crate) fn empty() -> Self {
        Self::here([])
    }

    /// A text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::here([Bytes::from(text.into())])
    }

    /// Bytes that are still arriving; `length` of them, if that is known.
    pub(crate) fn arriving(reader: Reader, length: Option<u64>) -> Self {
        Self {
            source: Source::Arriving(Box::new(reader)),
            skip: 0,
            left: length,
            line: None,
            busy: None,
            counted: None,
        }
    }

    /// A body that is passed on as it comes, and ends with an error if it pauses for longer than `timeout`.
    pub(crate) fn passing(incoming: Incoming, timeout: Duration) -> Self {
        Self::watched(incoming, timeout, None, u64::MAX)
    }

    /// The same; `progress` is told of each part, and dropped when all has come, or nobody wants it any more. More than `most` bytes are an error.
    pub(crate) fn watched(
        incoming: Incoming,
        timeout: Duration,
        progress: Option<watch::Sender<()>>,
        most: u64,
    ) -> Self {
        let left = incoming.size_hint().exact();
        let incoming = Box::new(Passing { incoming, timeout, most, deadline: None, progress });
        Self { source: Source::Passing(incoming), skip: 0, left, line: None, busy: None, counted: None }
    }

    /// The bytes from the first to the last one alone, both included.
    pub(crate) fn only(self, first: u64, last: u64) -> Self {
        Self { skip: first, left: Some(last - first + 1), ..self }
    }

    /// Logs this when all has been sent, or the client has left.
    pub(crate) fn log(&mut self, line: Line) {
        self.line = Some(Box::new(line));
    }

    /// Keeps its connection from being idle until all has been sent, or the client has left.
    pub(crate) fn keep(&mut self, mut busy: Busy) {
        busy.wait_for_client();
        self.busy = Some(busy);
    }

    /// Counts the answer when all has been sent, or the client has left.
    pub(crate) fn count(&mut self, counted: Box<Counted>) {
        self.counted = Some(counted);
    }

    /// Cuts what is sent out of what has come.
    fn cut(&mut self, mut data: Bytes) -> Bytes {
        let skipped = self.skip.min(data.len() as u64);
        self.skip -= skipped;
        let _ = data.split_to(skipped as usize);
        if let Some(left) = &mut self.left {
            data.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
            *left -= data.len() as u64;
        }
        data
    }

    fn poll_source(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, AnyError>>> {
        loop {
            if self.left == Some(0) {
                return Poll::Ready(None);
            }
            let data = match &mut self.source {
                Source::Here(parts) => match parts.pop_front() {
                    Some(mut data) => {
                        if data.len() > PART {
                            parts.push_front(data.split_off(PART));
                        }
                        data
                    }
                    None => return Poll::Ready(None),
                },
                Source::Passing(incoming) => return incoming.poll(context),
                Source::Tail(tail, place) => match tail.poll_next(place, context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Some(Ok(data))) => data,
                    Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error.into()))),
                    Poll::Ready(None) => return self.ended(),
                },
                Source::Arriving(reader) => match reader.poll_next(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Some(Ok(Piece::Data(data)))) => data,
                    // The head was read before.
                    Poll::Ready(Some(Ok(Piece::Head(_)))) => continue,
                    Poll::Ready(Some(Ok(Piece::Tail(tail)))) => {
                        self.source = Source::Tail(tail, 0);
                        continue;
                    }
                    Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error.into()))),
                    Poll::Ready(None) => return self.ended(),
                },
            };
            let data = self.cut(data);
            if !data.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
        }
    }

    /// Nothing more comes, which is too early if more was promised.
    fn ended(&self) -> Poll<Option<Result<Frame<Bytes>, AnyError>>> {
        Poll::Ready(self.left.map(|_| Err("the body ended early".into())))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = AnyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, AnyError>>> {
        let polled = self.poll_source(context);
        if let Some(busy) = &mut self.busy {
            match &polled {
                Poll::Ready(_) => busy.wait_for_client(),
                Poll::Pending => busy.wait_for_origin(),
            }
        }
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
            self.line.iter_mut().for_each(|line| line.sent += bytes);
            self.counted.iter_mut().for_each(|counted| counted.sent += bytes);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        match &self.source {
            Source::Passing(passing) => passing.incoming.is_end_stream(),
            Source::Here(_) | Source::Arriving(_) | Source::Tail(..) => self.left == Some(0),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.source, self.left) {
            (Source::Passing(passing), _) => passing.incoming.size_hint(),
            (_, Some(left)) => SizeHint::with_exact(left),
            (_, None) => SizeHint::default(),
        }
    }
}
